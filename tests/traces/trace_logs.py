"""Small text logs, made here: what they hold is known, so is what must be read."""

from __future__ import annotations

import json
from typing import Any

HF_STDOUT = """\
***** Running training *****
  Num examples = 1,600
  Instantaneous batch size per device = 4
  Total train batch size (w. parallel, distributed & accumulation) = 16
  Gradient Accumulation steps = 2
  Total optimization steps = 100
  Number of trainable parameters = 1,000,000
{'loss': 2.0, 'learning_rate': 1e-05, 'epoch': 0.5}
{'eval_loss': 2.1, 'eval_runtime': 100.0, 'eval_samples_per_second': 9.9, 'epoch': 0.5}
 50%|█████     | 50/100 [04:10<04:10]\r 51%|█████     | 51/100 [04:15<04:05]\r
{'train_runtime': 500.0, 'train_samples_per_second': 3.2, 'train_steps_per_second': 0.2, 'epoch': 1}
{'train_runtime': 499.9, 'train_samples_per_second': 3.2, 'train_steps_per_second': 0.2, 'epoch': 1}
"""


def deepspeed(rate: float = 32.0, batch: int | None = 64, count: int = 5) -> str:
    """Return a log of 64 samples in 2 s: 32 samples/s, logged as `rate`."""
    config = "[2024-01-01 00:00:00,000] [INFO] [config.py:1000:print]   "
    lines = [f"{config}train_batch_size ............. {batch}"] if batch else []
    command = "cmd = deepspeed /home/alice/main.py --per_device_train_batch_size 8 "
    command += "--gradient_accumulation_steps 1 --model_name_or_path facebook/opt-125m"
    lines += [command + " --max_seq_len 512"]
    lines += [
        f"[2024-01-01 00:{20 * i // 60:02d}:{20 * i % 60:02d},500] [INFO] [timer.py:199:stop] "
        f"epoch=0/micro_step={10 * i}/global_step={10 * i}, RunningAvgSamplesPerSec={rate}, "
        f"CurrSamplesPerSec={rate}, MemAllocated=3.96GB, MaxMemAllocated=20.0GB"
        for i in range(1, count + 1)
    ]
    return "\n".join(lines) + "\n"


DEEPSPEED_RLHF = """\
------------------------------------------------------
Total memory: 80.0 (GigaBytes)
|E2E latency=9.00s |Gather latency=0.00s (0.00%) |Generate time=6.00s (66.67%) |\
Training time=2.50s (27.78%) |Others=0.50 (5.56%)|CurSamplesPerSec=7.11 |AvgSamplesPerSec=7.11
|E2E latency=4.00s |Gather latency=0.00s (0.00%) |Generate time=2.50s (62.50%) |\
Training time=1.25s (31.25%) |Others=0.25 (6.25%)|CurSamplesPerSec=16.00 |AvgSamplesPerSec=9.9
|E2E latency=4.00s |Gather latency=0.00s (0.00%) |Generate time=2.50s (62.50%) |\
Training time=1.25s (31.25%) |Others=0.25 (6.25%)|CurSamplesPerSec=16.00 |AvgSamplesPerSec=11.9
"""

DEEPSPEED_FLOPS = """\
-------------------------- DeepSpeed Flops Profiler --------------------------
Profile Summary at step 10:
world size:                                                   4
data parallel size:                                           2
model parallel size:                                          2
batch size per GPU:                                           8
params per gpu:                                               50.0 M
params of model = params per GPU * mp_size:                   100.0 M
fwd latency:                                                  30.0 ms
bwd latency:                                                  60.0 ms
step latency:                                                 10000.0 us
iter latency:                                                 100.0 ms
samples/second:                                               160.0
----------------------------- Aggregated Profile per GPU -----------------------------
depth 0:
    params      - {'TinyModel': '100.0 M'}
"""


def torchtitan(mesh: str = "") -> str:
    """Return a log of 8 devices, 0.5 s a step, 16,384 tokens/s on each."""
    head = f"""\
[titan] 2024-06-30 22:42:10,000 - root - INFO - CUDA capacity: NVIDIA H100 with 79.10GiB memory
[titan] 2024-06-30 22:42:10,100 - root - INFO - Model llama3 1B size: 1,000,000 total parameters
{mesh}
[titan] 2024-06-30 22:42:10,200 - root - INFO - Trainer is initialized with local batch size 2, \
global batch size 16, gradient accumulation steps 1, sequence length 4096, total steps 10
"""
    steps = [
        f"[titan] 2024-06-30 22:42:{14 + i // 2:02d},{500 * (i % 2):03d} - root - INFO - "
        f"\x1b[31mstep: {i:2d}\x1b[0m  loss: 7.1  memory: 40.00GiB(50.57%)  "
        f"tps: {'1,024' if i == 1 else '16,384'}  mfu: 40.00%"
        for i in range(1, 7)
    ]
    return head + "\n".join(steps) + "\n^C\n"


NANOTRON = "".join(
    f"[default0]:08/31/2024 14:37:{30 + i} [INFO|DP=0|PP=0|TP=0|lab-7]: iteration: {i} / 10 | "
    f"consumed_tokens: {524 * i}K | elapsed_time_per_iteration_ms: {'9.1K' if i == 1 else '2.34K'} "
    "| tokens_per_sec: 224K | tokens_per_sec_per_gpu: 28K | global_batch_size: 256 | "
    "lm_loss: 5.32 | lr: 0.00015 | model_tflops_per_gpu: 187 | grad_norm: 2.96\n"
    "[default0]:08/31/2024 14:37:31 [INFO|DP=0|PP=0|TP=0|lab-7]:  Memory usage: 64.15MiB. "
    "Peak allocated 30720.00MiB. Peak reserved: 40000.00MiB\n"
    for i in range(1, 5)
)

COMPOSER = "".join(
    f"""\
[epoch=1][batch={i}/100]:
         Train time/batch: {i}
         Train time/sample: {1024 * i}
         Train trainer/device_train_microbatch_size: 8
         Train memory/peak_allocated_mem: 38.5
         Train loss/train/total: 8.4213
         Train throughput/batches_per_sec: 0.0027
         Train throughput/samples_per_sec: 2.7330
         Train throughput/device/samples_per_sec: 0.1708
         Train throughput/tokens_per_sec: 5597.1840
         Train throughput/device/tokens_per_sec: 349.8240
"""
    for i in range(5, 8)
)


def mlperf(old: bool = False, **values: Any) -> str:
    """Return a run of two epochs of 100 s with 10,000 samples each: 100 samples/s."""
    given: dict[str, Any] = {
        "submission_benchmark": "resnet",
        "submission_platform": "2xNVIDIA DGX A100",
        "submission_poc_name": "alice",
        "global_batch_size": 400,
        "train_samples": 10_000,
    }
    events: list[tuple[float, str, Any, dict[str, Any]]] = [
        (0.0, key, value, {}) for key, value in (given | values).items()
    ]
    events += [(10.0, "run_start", None, {})]
    for epoch in (1, 2):
        begin = 10.0 + 110 * (epoch - 1)
        events += [
            (begin, "epoch_start", None, {"epoch_num": epoch}),
            (begin + 100, "epoch_stop", None, {"epoch_num": epoch}),
        ]
    events += [(230.0, "run_stop", None, {"status": "success"})]
    return "+ srun --ntasks=16 /home/alice/run.sh\n" + "".join(
        f":::MLL {1.6e9 + at:.3f} {key}: {json.dumps({'value': value, 'metadata': meta})}\n"
        if old
        else "0: :::MLLOG "
        + json.dumps(
            {"time_ms": int((1.6e9 + at) * 1e3), "key": key, "value": value, "metadata": meta}
        )
        + "\n"
        for at, key, value, meta in events
    )


DLLOGGER = """\
DLLL {"timestamp": "1.0", "type": "LOG", "step": "PARAMETER", "data": {"global_batch_size": 64}}
DLLL {"timestamp": "2.0", "type": "LOG", "step": [0, 1], "data": {"train_throughput": 20.0}}
DLLL {"timestamp": "3.0", "type": "LOG", "step": [0, 2], "data": {"train_throughput": 128.0}}
DLLL {"timestamp": "4.0", "type": "LOG", "step": [0, 3], "data": {"train_throughput": 128.0}}
DLLL {"timestamp": "5.0", "type": "LOG", "step": [0], "data": {"val_throughput": 999.0}}
"""


def nanochat(rate: str = "524,288") -> str:
    """Return 262,144 tokens in 0.5 s on 4 devices, logged as `rate` tokens per second."""
    head = """\
Tokens / micro-batch / rank: 16 x 2048 = 32,768
Tokens / micro-batch: 131,072
Total batch size 262,144 => gradient accumulation steps: 2
"""
    return head + "".join(
        f"step {i:05d}/00100 ({i:.2f}%) | loss: 8.1 | lrm: 1.00 | dt: "
        f"{'9000.00' if i < 10 else '500.00'}ms | tok/sec: {rate} | mfu: 45.00 | total time: 0.1m\n"
        for i in range(20)
    )
