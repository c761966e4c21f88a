"""Small files of every format, made here: what they hold is known, so is what must be read."""

from __future__ import annotations

import json
from typing import Any

import trace_binaries as binaries
import trace_logs as logs
import trace_tables as tables

Json = dict[str, Any]


def event(name: str, cat: str, ts: float, dur: float, **args: Any) -> Json:
    """Return a complete event of a Chrome trace [µs]."""
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "pid": 1,
        "tid": 1,
        "ts": ts,
        "dur": dur,
        "args": args,
    }


def kernel(number: int, ts: float, dur: float, name: str = "gemm", **args: Any) -> Json:
    """Return a kernel on device 0, stream 7."""
    place = {"device": 0, "stream": 7, "correlation": number} | args
    return event(name, "kernel", ts, dur, **place)


def launch(number: int, ts: float) -> Json:
    """Return the call that launched a kernel."""
    return event("cudaLaunchKernel", "cuda_runtime", ts, 5, correlation=number, cbid=211)


def profiler_events(steps: int = 4, period: float = 1000.0, host: float = 600.0) -> list[Json]:
    """Return steps in which the host needs `host` and the GPU `period` microseconds.

    Each step computes for 500 µs, communicates for 300 µs of which 100 µs lie beside a kernel,
    and copies for 50 µs: the GPU is busy for 750 of each 1000 µs.
    """
    events: list[Json] = []
    for n in range(steps):
        start, gpu, first = 1e6 + n * host, 1e6 + 100 + n * period, 10 * n
        events += [
            event(f"ProfilerStep#{n + 3}", "user_annotation", start, host),
            event("aten::mm", "cpu_op", start + 5, 50, **{"Input Dims": [[8, 8], [8, 8]]}),
            *(launch(first + i, start + 10 + i) for i in range(4)),
            kernel(first, gpu, 400, "gemm<128, 64>"),
            kernel(first + 1, gpu + 400, 100, "add"),
            kernel(first + 2, gpu + 400, 300, "ncclDevKernel_AllReduce_Sum_f32", stream=20),
            event("Memcpy HtoD", "gpu_memcpy", gpu + 700, 50, device=0, stream=7)
            | {"args": {"device": 0, "stream": 7, "correlation": first + 3}},
        ]
    return events


def memory(ts: float, allocated: float, device_type: int = 1) -> Json:
    """Return a sample of the allocator."""
    details = {"Device Type": device_type, "Device Id": 0, "Total Allocated": allocated}
    return {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts, "args": details}


def profiler_trace(events: list[Json] | None = None, **meta: Any) -> Json:
    """Return a trace of one of two ranks on a machine with eight GPUs."""
    device = {"name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_000_000_000}
    head: Json = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": i, **device} for i in range(8)],
        "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2},
        "username": "alice",
        "host_name": "lab-7.example",
    }
    given = profiler_events() if events is None else events
    return head | meta | {"traceEvents": given, "traceName": "/home/alice/run/trace.json"}


def dumped(trace: Any, indent: int | None = 2) -> bytes:
    """Write JSON as the profiler does."""
    return json.dumps(trace, indent=indent).encode()


def megatron_log(lines: int = 5) -> str:
    """Return a log of the current version: 2 s a step after 9 s of start-up."""
    times = [9000.0] + [2000.0] * (lines - 1)
    head = """\
using world size: 16, data-parallel size: 2, tensor-model-parallel size: 4, \
pipeline-model-parallel size: 2
------------------------ arguments ------------------------
  bf16 ............................................ True
  global_batch_size ............................... 128
  hidden_size ..................................... 4096
  micro_batch_size ................................ 2
  num_layers ...................................... 32
  pipeline_model_parallel_size .................... 2
  seq_length ...................................... 2048
  tensor_model_parallel_size ...................... 4
  world_size ...................................... 16
"""
    rows = [
        f" [2024-04-06 02:59:{i:02d}] iteration {10 * i:8}/    1000 | consumed samples: 9 | "
        f"elapsed time per iteration (ms): {time:.1f} | throughput per GPU (TFLOP/s/GPU): 180.1 | "
        f"learning rate: 1.0E-04 | global batch size:   128 | lm loss: 2.1E+00 | "
        f"number of skipped iterations:   {int(i == 2)} | number of nan iterations:   0 |"
        for i, time in enumerate(times, start=1)
    ]
    peak = "[Rank 0] (after 10 iterations) memory (MB) | allocated: 9.5 | max allocated: 20480.0 | "
    return head + "\n".join([rows[0], peak + peak.replace("20480.0", "10.0"), *rows[1:]]) + "\n"


def trainer_state(**changes: Any) -> Json:
    """Return a state of 100 steps of 16 samples: 500 s, of which 100 s evaluations."""
    log: list[Json] = [
        {"epoch": 0.5, "loss": 2.0, "step": 50},
        {"epoch": 0.5, "eval_loss": 2.1, "eval_runtime": 60.0, "step": 50},
        {"epoch": 1.0, "eval_loss": 2.0, "eval_runtime": 40.0, "step": 100},
        {
            "epoch": 1.0,
            "step": 100,
            "total_flos": 1e15,
            "train_loss": 1.9,
            "train_runtime": 500.0,
            "train_samples_per_second": 3.2,
            "train_steps_per_second": 0.2,
        },
    ]
    state: Json = {"global_step": 100, "max_steps": 100, "log_history": log, "train_batch_size": 4}
    return state | {"is_world_process_zero": True} | changes


def train_results() -> Json:
    """Return the summary of the same run."""
    return {
        "epoch": 1.0,
        "train_loss": 1.9,
        "train_runtime": 500.0,
        "train_samples": 1600,
        "train_samples_per_second": 3.2,
        "train_steps_per_second": 0.2,
    }


RUN_FACTS: Json = {
    "advisor_run_facts": 1,
    "world_size": 8,
    "gpus": 8,
    "gpu_name": "NVIDIA L4",
    "model": "/home/alice/My-Net",
    "parameters": 1_000_000,
    "precision": "bf16",
    "micro_batch": 4,
    "global_batch": 32,
    "step_time_s": 0.5,
    "steps": 5,
}
RUNS_CSV = """\
model,gpu_name,gpus,step_time_s,global_batch,gpu_busy_share,usd_per_h,layout
Llama-2-7B,A100-80GB,8,1.25,64,0.93,32.77,tp=2;dp=4
ResNet-50,T4,1,0.4,128,,0.526,
"""


EXAMPLES: dict[str, bytes] = {
    "kineto_chrome_trace": dumped(profiler_trace()),
    "megatron_log": megatron_log().encode(),
    "hf_trainer_state": dumped(trainer_state()),
    "hf_all_results": dumped(train_results()),
    "run_facts": dumped(RUN_FACTS),
    "runs_csv": RUNS_CSV.encode(),
    "hf_trainer_stdout": logs.HF_STDOUT.encode(),
    "deepspeed_log": logs.deepspeed().encode(),
    "deepspeed_chat_rlhf_log": logs.DEEPSPEED_RLHF.encode(),
    "deepspeed_flops_profiler": logs.DEEPSPEED_FLOPS.encode(),
    "torchtitan_log": logs.torchtitan().encode(),
    "nanotron_log": logs.NANOTRON.encode(),
    "nanochat_log": logs.nanochat().encode(),
    "composer_log": logs.COMPOSER.encode(),
    "mlperf_log": logs.mlperf().encode(),
    "dllogger_jsonl": logs.DLLOGGER.encode(),
    "lightning_csvlogger": tables.LIGHTNING.encode(),
    "nvidia_smi_csv": tables.NVIDIA_SMI.encode(),
    "nvidia_smi_dmon": tables.DMON.encode(),
    "dcgmi_dmon": tables.DCGMI.encode(),
    "dcgm_prometheus_text": tables.DCGM.encode(),
    "wandb_summary": dumped(tables.WANDB_SUMMARY),
    "wandb_metadata": dumped(tables.WANDB_METADATA),
    "wandb_chart_csv": tables.WANDB_CHART.encode(),
    "mlflow_metrics": tables.MLFLOW.encode(),
    "nsys_csv": tables.NSYS_TRACE.encode(),
    "nsys_sqlite": binaries.nsys(),
    "tensorboard_tfevents": binaries.tfevents(),
    "tf1_timeline_json": dumped(binaries.tf1_timeline()),
    "xla_trace_json": dumped(binaries.xla_trace()),
    "tf_jax_xplane": binaries.XPLANE,
    "pytorch_execution_trace": dumped(
        {"schema": "1.1.0", "pid": 1, "nodes": [{"name": "aten::mm", "id": 1, "parent": 0}]}
    ),
    "tensorboard_profile_overview_json": dumped(
        [{"cols": [{"id": "selfTimePercent", "label": "Time (%)", "type": "number"}], "rows": []}]
    ),
}
"""One file per registered format."""
