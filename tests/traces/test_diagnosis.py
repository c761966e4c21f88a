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
from advisor.traces import Parts, RankRow, Trace, read

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
            events += [launch(100 * n + i, begin + i), kernel(100 * n + i, at, length, name)]
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


def test_gaps_between_kernels_are_the_host_s() -> None:
    found = kinds(steps(("a", 5), ("b", 5)))
    assert found["host-bound"].severity == "high"
    assert "longer than launching takes" in found["host-bound"].help
    assert "low-batch" in found
    assert "input-bound" not in found
    assert found["host-bound"].step_time_after_s == pytest.approx(1e-5, rel=0.1)


def test_many_short_kernels_are_bound_by_their_launches() -> None:
    found = kinds(steps(*[(f"kernel{i}", 5) for i in range(50)]))
    assert "host-bound" not in found
    assert "launches 50 kernels and copies a step, one each 20 µs" in found["launch-bound"].sentence
    assert "CUDA graphs" in found["launch-bound"].help


def test_an_unusually_long_step_is_not_taken_for_a_slow_host() -> None:
    usual = steps(("gemm_bf16", 900), count=5)
    long = usual.model_copy(
        update={
            "parts": Parts(
                window_s=7e-3, compute_s=4.5e-3, comm_exposed_s=0, memcpy_s=0, idle_s=2.5e-3
            )
        }
    )
    assert diagnose(long) == ()


def test_an_idle_gpu_is_named_where_the_file_does_not_tell_why() -> None:
    found = kinds(Trace(format="nvidia_smi_csv", gpu_busy_share=0.014, gpus=1))
    assert "nothing to do 99\xa0% of the time" in found["gpu-idle"].sentence
    assert diagnose(Trace(format="nvidia_smi_csv", gpu_busy_share=0.95, gpus=1)) == ()


def test_copies_that_nothing_hides_are_named() -> None:
    parts = Parts(window_s=1.0, compute_s=0.02, comm_exposed_s=0, memcpy_s=0.97, idle_s=0.01)
    found = kinds(Trace(format="nsys_sqlite", gpu_busy_share=0.99, parts=parts))["copies-exposed"]
    assert found.severity == "high"
    assert "97%" in found.sentence


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


def job_of(*exposed: float) -> Trace:
    rows = tuple(
        RankRow(rank=i, step_time_s=0.1, comm_exposed_share=share)
        for i, share in enumerate(exposed)
    )
    return Trace(format="kineto_chrome_trace", step_time_s=0.1, ranks=rows)


def test_the_rank_that_alone_does_not_wait_is_the_one_waited_for() -> None:
    found = kinds(job_of(0.4, 0.41, 0.05, 0.42))["straggler"]
    assert "wait for rank 2: it communicates 5% of the time" in found.sentence
    assert found.step_time_after_s == pytest.approx(0.0645)


def test_where_the_others_only_wait_no_step_time_is_promised() -> None:
    found = kinds(job_of(1.0, 1.0, 0.0, 1.0))["straggler"]
    assert "wait for rank 2" in found.sentence
    assert (found.step_time_after_s, "at best" in found.help) == (None, False)


@pytest.mark.parametrize("exposed", [(0.4, 0.4, 0.05, 0.05), (0.1, 0.12, 0.11, 0.1), (0.0, 0.4)])
def test_stages_of_a_pipeline_and_even_ranks_are_no_stragglers(exposed: tuple[float, ...]) -> None:
    assert "straggler" not in kinds(job_of(*exposed))


@pytest.mark.parametrize(("peak", "kind"), [(10, "memory-room"), (78, "memory-full"), (60, None)])
def test_room_in_memory(peak: float, kind: str | None) -> None:
    trace = read(dumped(profiler_trace([*profiler_events(), memory(1e6, peak * GIB)])))
    assert {name for name in kinds(trace) if name.startswith("memory")} == ({kind} - {None})


def test_matrix_kernels_in_single_precision() -> None:
    trace = steps(("volta_sgemm_128x64_nn", 900))
    assert kinds(trace)["tensor-cores-unused"].severity == "high"
    old = trace.model_copy(update={"gpu_name": "Tesla P100-PCIE-16GB"})
    assert "tensor-cores-unused" not in kinds(old)


@pytest.mark.parametrize(
    ("gpu", "words"),
    [
        ("Tesla V100-SXM2-32GB", "know no bf16"),
        ("AMD Instinct MI300X", "matrix cores"),
        ("NVIDIA A100-SXM4-80GB", "TF32"),
    ],
)
def test_the_faster_precision_is_one_that_the_gpu_has(gpu: str, words: str) -> None:
    trace = steps(("volta_sgemm_128x64_nn", 900)).model_copy(update={"gpu_name": gpu})
    assert words in kinds(trace)["tensor-cores-unused"].help


def test_single_precision_does_not_matter_where_the_gpu_is_idle() -> None:
    assert "tensor-cores-unused" not in kinds(steps(("volta_sgemm_128x64_nn", 50)))


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
