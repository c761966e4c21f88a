"""Bugs reported in public about tools of this kind: each is a test, named after its report."""

from __future__ import annotations

import json

import pytest
import trace_binaries as binaries
import trace_logs as logs
from test_trace_safety import tar
from trace_examples import (
    EXAMPLES,
    dumped,
    event,
    kernel,
    launch,
    megatron_log,
    profiler_events,
    profiler_trace,
    trainer_state,
)

from advisor.core.errors import TraceError
from advisor.traces import CutOffError, Limits, Trace, read, read_many

GOOD = read(dumped(profiler_trace()))
NUMBERS = ("step_time_s", "gpu_busy_share", "comm_share", "gpus")


def same_numbers(trace: Trace, other: Trace = GOOD) -> bool:
    named = trace.gpu_name == other.gpu_name
    return named and [getattr(trace, n) for n in NUMBERS] == pytest.approx(
        [getattr(other, n) for n in NUMBERS], rel=1e-9
    )


def said(trace: Trace) -> str:
    return " ".join(trace.warnings)


def test_kineto_105_inf_duration() -> None:
    bandwidth = kernel(77, 1e6 + 10, 0, bandwidth=1.5)
    text = dumped(profiler_trace([bandwidth, *profiler_events()]))
    trace = read(text.replace(b'"bandwidth": 1.5', b'"memory bandwidth (GB/s)": inf'))
    assert same_numbers(trace)
    assert "Not valid JSON: 1 of 41 events" in said(trace)
    trace = read(text.replace(b'"dur": 0', b'"dur": inf'))
    assert same_numbers(trace)
    assert "Left out: 1 event without a time" in said(trace)


@pytest.mark.parametrize("word", [b"NaN", b"Infinity", b"-Infinity", b"nan"])
def test_bluepill_437_promptflow_3190_nan(word: bytes) -> None:
    extra = event("odd", "cpu_op", 1e6, 5, value=1.5)
    text = dumped(profiler_trace([*profiler_events(), extra])).replace(b"1.5", word)
    trace = read(text)
    assert same_numbers(trace)
    assert b"NaN" not in json.dumps(trace.to_dict(), allow_nan=False).encode()


def test_perfetto_598_pytorch_130622_control_character() -> None:
    text = dumped(profiler_trace()).replace(b"aten::mm", b"aten::\x01mm")
    assert same_numbers(read(text))


def test_kineto_76_bytes_that_are_no_utf8() -> None:
    text = dumped(profiler_trace()).replace(b"aten::mm", b"aten::m\xfc\xff")
    assert same_numbers(read(text))
    text = dumped(profiler_trace()).replace(b"gemm", b"g\xe9mm")
    assert "g�mm" in read(text).kernels[0].name


def test_hta_324_large_integers_and_unescaped_quotes() -> None:
    extra = event("odd", "cpu_op", 1e6, 5, address=2**70, correlation=2**80)
    assert same_numbers(read(dumped(profiler_trace([*profiler_events(), extra]))))
    text = dumped(profiler_trace()).replace(b"aten::mm", b'a "quoted" name')
    trace = read(text)
    assert same_numbers(trace)
    assert "Not valid JSON: 4 of 40 events, the first at byte" in said(trace)


def test_chakra_192_cut_file() -> None:
    text = dumped(profiler_trace(profiler_events(steps=300)))
    with pytest.raises(CutOffError, match=r"cut off after [\d,]+ events") as caught:
        read(text[: len(text) // 2], "half.json")
    assert caught.value.readable.steps is not None
    assert 140 < caught.value.readable.steps < 155
    assert caught.value.readable.step_time_s == pytest.approx(1e-3)
    assert "half.json" in str(caught.value)


def test_chakra_192_doubled_file() -> None:
    trace = read(dumped(profiler_trace()) * 2)
    assert same_numbers(trace)
    assert "What stands behind the events is not valid JSON" in said(trace)


def test_kineto_595_760_805_622_too_large_is_said_with_the_limit() -> None:
    text = dumped(profiler_trace(profiler_events(steps=300)))
    with pytest.raises(TraceError, match=r"more than 0\.0001 GB.*Record fewer steps"):
        read(text, limits=Limits(content_bytes=100_000))
    with pytest.raises(TraceError, match="more than 100 events"):
        read(text, limits=Limits(events=100))
    done: list[tuple[int, int]] = []
    read(text, progress=lambda now, whole: done.append((now, whole)))
    assert done[-1] == (len(text), len(text))


def test_kineto_270_334_no_data_has_a_reason() -> None:
    with pytest.raises(TraceError, match=r"no events in this trace.*profiler was running"):
        read(dumped(profiler_trace([])))
    idle = read(dumped(profiler_trace([event("aten::mm", "cpu_op", 1e6, 5)])))
    assert "No work of a GPU was recorded" in said(idle)


def test_hta_17_107_179_no_rank_in_the_file() -> None:
    trace = read(dumped(profiler_trace(distributedInfo=None)))
    assert trace.ranks[0].rank == 0
    assert "does not say which rank" in said(trace)


def test_hta_16_names_that_are_absent() -> None:
    kernels = [e for e in profiler_events() if e["cat"] != "cuda_runtime"]
    trace = read(dumped(profiler_trace(kernels)))
    assert trace.step_time_s == pytest.approx(6e-4)
    assert "cannot be assigned to steps" in said(trace)
    host = [e for e in profiler_events() if e["cat"] in {"cuda_runtime", "user_annotation"}]
    assert read(dumped(profiler_trace(host))).comm_share is None
    alone = [e for e in profiler_events() if "nccl" not in e["name"]]
    assert read(dumped(profiler_trace(alone))).comm_share == 0


def test_hta_241_all_and_exposed_communication_are_two_numbers() -> None:
    hidden = [kernel(1, 1e6, 1000), kernel(2, 1e6, 500, "ncclDevKernel_AllGather", stream=20)]
    trace = read(dumped(profiler_trace(hidden)))
    assert trace.comm_share == pytest.approx(0.5)
    assert trace.comm_exposed_share == 0


def test_torchtune_2323_steps_that_overlap() -> None:
    events = profiler_events()
    events[0] |= {"dur": 650.0}
    assert read(dumped(profiler_trace(events))).steps == 4


def test_pytorch_174555_steps_with_wrong_spans() -> None:
    events = profiler_events()
    steps = [e for e in events if e["name"].startswith("ProfilerStep")]
    steps[1] |= {"dur": 5000.0}
    trace = read(dumped(profiler_trace(events)))
    assert trace.steps == 4
    assert "overlap or are out of order" in said(trace)


def test_kineto_646_negative_duration() -> None:
    extra = [kernel(98, 1e6 + 500, -1e6), event("aten::add", "cpu_op", 1e6, -7)]
    trace = read(dumped(profiler_trace(profiler_events() + extra)))
    assert same_numbers(trace)
    assert "Left out: 2 events with a negative duration" in said(trace)


def test_pytorch_188481_second_half_at_time_zero() -> None:
    zeros = [kernel(500 + i, 0.0, 0.0) for i in range(40)]
    trace = read(dumped(profiler_trace(profiler_events() + zeros)))
    assert same_numbers(trace)
    assert "Left out: 40 events with time and duration 0" in said(trace)
    without_steps = [kernel(1, 1e6, 100), kernel(2, 1e6 + 300, 100), *zeros]
    assert read(dumped(profiler_trace(without_steps))).gpu_busy_share == pytest.approx(0.5)


def test_tracelens_669_kernels_that_overflow() -> None:
    events = profiler_events(steps=30)
    broken = next(e for e in events if e["name"] == "gemm<128, 64>")
    broken |= {"dur": 1.6e6}
    trace = read(dumped(profiler_trace(events)))
    good = read(dumped(profiler_trace(profiler_events(steps=30))))
    assert trace.gpu_busy_share == pytest.approx(good.gpu_busy_share)
    assert "Cut back: the ends of 1 kernel" in said(trace)


def test_ascend_133_times_as_texts() -> None:
    base = 1_718_782_345_000_000
    events = [
        e | {"ts": f"{base + e['ts']:.3f}", "dur": f"{e['dur']:.3f}"} for e in profiler_events()
    ]
    trace = read(dumped(profiler_trace(events)))
    assert trace.step_time_s == pytest.approx(1e-3, abs=1e-6)
    assert trace.gpu_busy_share == pytest.approx(GOOD.gpu_busy_share or 0, abs=1e-3)


def test_kineto_853_no_precision_below_a_microsecond() -> None:
    events = profiler_events(period=1000.4567, host=600)
    assert read(dumped(profiler_trace(events))).step_time_s == 0.001


def test_pytorch_95460_bare_list_of_events() -> None:
    events = [e | {"pid": "CPU functions", "tid": None} for e in profiler_events()]
    trace = read(dumped(events))
    assert trace.step_time_s == GOOD.step_time_s
    assert trace.gpu_name is None
    unclosed = dumped(events)[:-1]
    assert read(unclosed).step_time_s == GOOD.step_time_s


def test_xprof_578_no_step_marker() -> None:
    unmarked = binaries.xla_trace()
    unmarked["traceEvents"] = [e for e in unmarked["traceEvents"] if e.get("tid") != 1]
    trace = read(dumped(unmarked))
    assert trace.step_time_s is None
    assert "No step marker observed" in said(trace)


def test_transformers_40560_41156_optimum_89_resumed_run() -> None:
    text = logs.HF_STDOUT.replace("{'loss'", "  Continuing training from global step 50\n{'loss'")
    trace = read(text.encode())
    assert trace.step_time_s == pytest.approx(400 / 50)
    assert trace.throughput == pytest.approx(1.6)
    assert "The run was resumed: 50 of 100 steps" in said(trace)
    log = trainer_state()["log_history"]
    first = [log[0], log[1] | {"step": 50}, log[3] | {"step": 50, "train_runtime": 900.0}]
    again = read(dumped(trainer_state(log_history=[*first, *log[2:]])))
    assert again.steps == 50
    assert again.step_time_s == pytest.approx((500 - 40) / 50)


def test_transformers_11818_steps_given_as_samples() -> None:
    old = logs.HF_STDOUT.replace(", 'train_steps_per_second': 0.2", "").replace("3.2", "0.2")
    trace = read(old.encode())
    assert trace.step_time_s == pytest.approx(4.0)
    assert trace.throughput == pytest.approx(16 / 4.0)
    log = trainer_state()["log_history"]
    del log[3]["train_steps_per_second"]
    log[3]["train_samples_per_second"] = 0.2
    unsure = read(dumped(trainer_state(log_history=log)))
    assert unsure.throughput is None
    assert "steps per second as samples per second" in said(unsure)


def test_transformers_6930_steps_are_those_of_the_optimizer() -> None:
    trace = read(EXAMPLES["hf_trainer_stdout"])
    assert (trace.global_batch, trace.micro_batch, trace.gpus) == (16, 4, 2)


@pytest.mark.parametrize("rate", [8.0, 256.0])
def test_deepspeed_2498_2165_dalle_411_accumulation(rate: float) -> None:
    trace = read(logs.deepspeed(rate=rate).encode())
    assert trace.throughput == pytest.approx(32)
    assert f"the log says {rate:g} samples/s, but batch and step time give 32" in said(trace)


def test_deepspeed_407_pipeline_throughput() -> None:
    config = "[2024-01-01 00:00:00,000] [INFO] [config.py:1:print]   train_batch_size ... 128\n"
    lines = [
        f"[2024-01-01 00:00:{10 * i:02d},000] [INFO] [logging.py:96:log_dist] [Rank 0] "
        f"step={10 * i}, skipped=0, lr=[0.1]\nsteps: {10 * i} loss: 5.5 lm loss: 5.5 "
        "iter time (s): 10.000 samples/sec: 12.800\n"
        for i in range(1, 6)
    ]
    trace = read((config + "".join(lines)).encode())
    assert trace.step_time_s == pytest.approx(1.0)
    assert trace.throughput == pytest.approx(128)
    assert "which counts" in said(trace)
    undated = "".join(line.split("\n")[1] + "\n" for line in lines)
    assert read(undated.encode()).step_time_s == pytest.approx(10.0)


def test_nanochat_177_175_tokens_without_accumulation() -> None:
    trace = read(logs.nanochat(rate="262,144").encode())
    assert trace.throughput == pytest.approx(524_288)
    assert "which counts" in said(trace)


def test_torchtitan_263_2230_rates_of_one_device() -> None:
    mesh = "Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]"
    trace = read(logs.torchtitan(mesh).encode())
    assert (trace.gpus, trace.layout) == (8, "tp=2;dp=4")
    assert trace.throughput == pytest.approx(8 * 16384)
    assert "per device" in said(trace)


def test_alpa_823_anemoi_1254_megatron_2954_start_up_is_left_out() -> None:
    extra = " iteration        1/    1000 | elapsed time per iteration (ms): 90000.0 |\n"
    head, first, rest = megatron_log().partition(" [2024-04-06")
    trace = read((head + extra + first + rest).encode())
    assert trace.step_time_s == pytest.approx(2.0)
    restarted = megatron_log() + megatron_log(4)
    trace = read(restarted.encode())
    assert trace.step_time_s == pytest.approx(2.0)
    assert "Not counted: 2 lines after a start" in said(trace)
    only = read((head + extra).encode())
    assert only.step_time_s is None


def test_jax_22972_nsys_ai_291_294_tables_that_change() -> None:
    for data in (binaries.nsys(steps=False), binaries.nsys(named=False)):
        assert read(data).gpu_busy_share == pytest.approx(2.85 / 4)
    assert read(binaries.nsys(steps=False)).step_time_s is None
    assert read(binaries.nsys(suffix="_V3")).step_time_s == pytest.approx(1e-3)
    assert read(binaries.nsys(named=False)).gpu_name is None


def test_tensorboard_3194_pydatalab_710_truncated_record() -> None:
    trace = read(binaries.tfevents()[:-5])
    assert trace.step_time_s == pytest.approx(0.5)
    assert "ends within a record" in said(trace)
    damaged = bytearray(binaries.tfevents())
    damaged[-20] ^= 1
    assert "Left out: 1 record with a wrong checksum" in said(read(bytes(damaged)))


def test_tensorboardx_185_steps_that_go_back() -> None:
    trace = read(binaries.tfevents(steps=(10, 20, 30, 20, 30, 40)))
    assert trace.step_time_s == pytest.approx(0.5)
    assert trace.steps == 20
    assert "after 1 restart" in said(trace)


def test_xfusion_rnnt_tag_that_is_ten_times_too_low() -> None:
    trace = read(binaries.tfevents(throughput=6.4))
    assert trace.throughput == pytest.approx(64)
    assert "the tag “train/throughput” says 6.4 samples/s, but batch" in said(trace)


def test_clocks_that_are_put_forward_do_not_count() -> None:
    text = logs.deepspeed(count=4)
    jumped = text.replace("00:01:20,500", "01:01:20,500")
    assert read(jumped.encode()).step_time_s == pytest.approx(2.0)


def test_tensorflow_1_all_streams_repeat_the_others() -> None:
    trace = read(dumped(binaries.tf1_timeline()))
    assert trace.gpu_busy_share == pytest.approx(0.5)
    merged = read(dumped(binaries.tf1_timeline(runs=5)))
    assert merged.step_time_s is None
    assert "About 5 runs are merged" in said(merged)


def test_kineto_640_llama_cookbook_533_missing_workers() -> None:
    files = [
        (f"r{rank}.json", dumped(profiler_trace(distributedInfo={"rank": rank, "world_size": 4})))
        for rank in (0, 3)
    ]
    assert all(result.trace for result in read_many(files))
    job = read(tar(*files), "job.tar.gz")
    assert [row.rank for row in job.ranks] == [0, 3]
    assert "Ranks 1–2 of 4 are missing" in said(job)


def test_launches_share_numbers_with_their_drivers() -> None:
    twice = [launch(10 * n, 1e6 + n * 600 + 10 + 1) for n in range(4)]
    drivers = [e | {"cat": "cuda_driver"} for e in twice]
    assert same_numbers(read(dumped(profiler_trace(profiler_events() + drivers))))
