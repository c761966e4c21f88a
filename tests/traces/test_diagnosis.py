"""What holds a run up: said where it is so, and not where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_jobs import rank
from test_trace_safety import tar
from trace_examples import (
    EXAMPLES,
    dumped,
    event,
    kernel,
    launch,
    memory,
    profiler_events,
    profiler_trace,
)

from advisor.advice.diagnosis import Finding, diagnose
from advisor.core.units import GIB
from advisor.traces import Trace, read

_KINETO = "data/traces/kineto"


def kinds(trace: Trace) -> dict[str, Finding]:
    return {finding.kind: finding for finding in diagnose(trace)}


def steps(*names: tuple[str, float], loading: float = 0.0, count: int = 4) -> Trace:
    """Read steps of 1 ms on host and GPU, with these kernels [µs] one after the other."""
    events = []
    for n in range(count):
        begin = at = 1e6 + 1000 * n
        events += [event(f"ProfilerStep#{n}", "user_annotation", begin, 1000)]
        if loading:
            loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
            events += [event(loader, "user_annotation", begin, loading)]
        for i, (name, length) in enumerate(names):
            events += [launch(10 * n + i, begin + i), kernel(10 * n + i, at, length, name)]
            at += length
    return read(dumped(profiler_trace(events)))


def test_a_healthy_run_needs_nothing() -> None:
    assert diagnose(steps(("ampere_bf16_s16816gemm", 700), ("add", 280))) == ()


def test_waiting_for_batches_is_said_with_what_workers_would_give() -> None:
    found = kinds(steps(("gemm_bf16", 600), loading=400))["input-bound"]
    assert found.severity == "high"
    assert "0.4 ms" in found.sentence or "400" in found.sentence
    assert "4 workers instead of 0" in found.help
    assert found.step_time_after_s == pytest.approx(0.72e-3)


def test_loading_behind_a_busy_gpu_holds_nothing_up() -> None:
    assert "input-bound" not in kinds(steps(("gemm_bf16", 990), loading=400))


def test_of_loading_only_what_the_gpu_waits_for_counts() -> None:
    found = kinds(steps(("gemm_bf16", 800), loading=400))["input-bound"]
    assert found.severity == "medium"
    assert "waits 0.2 ms of 1 ms (20%)" in found.sentence
    assert found.step_time_after_s == pytest.approx(0.86e-3)


def test_gaps_between_short_kernels_are_the_host_s() -> None:
    found = kinds(steps(("a", 5), ("b", 5)))
    assert found["launch-bound"].severity == "high"
    assert "low-batch" in found
    assert "input-bound" not in found
    assert found["launch-bound"].step_time_after_s == pytest.approx(1e-5, rel=0.1)


def test_exposed_and_hidden_communication_differ() -> None:
    exposed = kinds(steps(("gemm_bf16", 500), ("ncclDevKernel_AllReduce", 450)))
    assert "holds the GPU up 45%" in exposed["communication-exposed"].sentence
    events = [event(f"ProfilerStep#{n}", "user_annotation", 1e6 + 1e3 * n, 1e3) for n in range(3)]
    for n in range(3):
        events += [kernel(2 * n, 1e6 + 1e3 * n, 1000)]
        events += [kernel(2 * n + 1, 1e6 + 1e3 * n, 400, "ncclDevKernel_AllGather", stream=9)]
    hidden = kinds(read(dumped(profiler_trace(events))))
    assert hidden["communication-hidden"].severity == "info"
    assert "communication-exposed" not in hidden


def test_the_slowest_rank_is_named() -> None:
    files = [(f"{i}.json", rank(i, period=1500.0 if i == 2 else 1000.0)) for i in range(4)]
    found = kinds(read(tar(*files), "job.tar.gz"))["straggler"]
    assert "Rank 2 is the slowest of 4: 1.5 ms a step against 1 ms" in found.sentence
    assert found.step_time_after_s == pytest.approx(1e-3)


@pytest.mark.parametrize(("peak", "kind"), [(10, "memory-room"), (78, "memory-full"), (60, None)])
def test_room_in_memory(peak: float, kind: str | None) -> None:
    trace = read(dumped(profiler_trace([*profiler_events(), memory(1e6, peak * GIB)])))
    assert {name for name in kinds(trace) if name.startswith("memory")} == ({kind} - {None})


def test_matrix_kernels_in_single_precision() -> None:
    trace = steps(("volta_sgemm_128x64_nn", 900))
    assert kinds(trace)["tensor-cores-unused"].severity == "high"
    old = trace.model_copy(update={"gpu_name": "Tesla P100-PCIE-16GB"})
    assert "tensor-cores-unused" not in kinds(old)


@pytest.mark.parametrize(("inputs", "said"), [("tf32f32", False), ("f32f32", True)])
def test_tf32_runs_on_tensor_cores_and_fp32_does_not(inputs: str, *, said: bool) -> None:
    trace = steps((f"sm80_xmma_gemm_f32f32_{inputs}_f32_tn_n", 900))
    assert ("tensor-cores-unused" in kinds(trace)) is said


def test_a_step_that_compiles_is_warm_up() -> None:
    events = profiler_events(host=1000)
    slow = next(e for e in events if e["name"] == "ProfilerStep#3")
    slow |= {"ts": slow["ts"] - 9e6, "dur": 9e6}
    found = kinds(read(dumped(profiler_trace(events))))["warm-up"]
    assert "Step 1 of 4 recorded ones took 9 s" in found.sentence


def test_a_gpu_that_is_busy_behind_the_host_needs_nothing() -> None:
    events = [e for e in profiler_events(period=750, host=400, steps=40) if "nccl" not in e["name"]]
    busy = [e | {"dur": 650} if e["name"] == "gemm<128, 64>" else e for e in events]
    found = kinds(read(dumped(profiler_trace(busy))))
    assert set(found) <= {"host-ahead"}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_format_is_diagnosed_or_silent(name: str) -> None:
    for finding in diagnose(read(EXAMPLES[name])):
        assert finding.sentence.endswith(".")
        assert finding.evidence


@pytest.mark.reference
def test_the_pair_with_0_and_4_loader_processes(reference: Path) -> None:
    folder = reference / _KINETO
    without = read(folder / "resnet50_v100_workers0.pt.trace.json.gz")
    with_four = read(folder / "resnet50_v100_workers4.pt.trace.json.gz")
    found = diagnose(without)[0]
    assert (found.kind, found.severity) == ("input-bound", "high")
    assert "4 workers instead of 0 would give ~0.127 s a step instead of 0.175 s" in found.help
    assert found.step_time_after_s == pytest.approx(with_four.step_time_s, rel=0.05)
    assert "input-bound" not in kinds(with_four)


@pytest.mark.reference
@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("mi300x_resnet_8rank.json.gz", "communication-exposed", "66% of the time (82% in all)"),
        ("dlrm_8workers.tar.gz", "straggler", "Rank 1 is the slowest of 8: 19.9 ms"),
        ("v100_ns_resolution.json.gz", "host-ahead", "the GPU needs 95.62 ms"),
        ("triton_first_compile.json.gz", "warm-up", "took 13.3 s"),
    ],
)
def test_labelled_traces(name: str, kind: str, words: str, reference: Path) -> None:
    assert words in kinds(read(reference / _KINETO / name))[kind].sentence
