"""Definitions behind the numbers of a profiler trace."""

from __future__ import annotations

import pytest
from trace_examples import dumped, event, kernel, launch, memory, profiler_events, profiler_trace

from advisor.core.units import GIB
from advisor.traces import read


def test_the_period_of_the_gpu_counts_and_not_the_step_of_the_host() -> None:
    trace = read(dumped(profiler_trace(profiler_events(period=1000, host=600))))
    assert trace.step_time_s == pytest.approx(1e-3)
    assert any("host runs ahead" in text for text in trace.warnings)


def test_one_step_has_no_period_so_the_host_counts() -> None:
    trace = read(dumped(profiler_trace(profiler_events(steps=1, host=600))))
    assert trace.step_time_s == pytest.approx(6e-4)
    assert any("Only one step" in text for text in trace.warnings)


def test_shares_are_of_the_window_from_first_to_last_step() -> None:
    # Host and GPU in step, GPU work 100 µs after the start of the step.
    trace = read(dumped(profiler_trace(profiler_events(steps=4, period=1000, host=1000))))
    assert trace.gpu_busy_share == pytest.approx(0.75)
    assert trace.comm_share == pytest.approx(0.3)
    assert trace.comm_exposed_share == pytest.approx(0.2)
    parts = trace.parts
    assert parts is not None
    assert parts.window_s == pytest.approx(4e-3)
    assert parts.compute_s == pytest.approx(2e-3)
    assert parts.comm_exposed_s == pytest.approx(0.8e-3)
    assert parts.memcpy_s == pytest.approx(0.2e-3)
    assert parts.idle_s == pytest.approx(1e-3)


def test_without_steps_the_window_is_the_span_of_the_devices() -> None:
    events = [kernel(1, 1e6, 100), kernel(2, 1e6 + 300, 100)]
    trace = read(dumped(profiler_trace(events)))
    assert trace.step_time_s is None
    assert trace.gpu_busy_share == pytest.approx(0.5)


def test_work_of_several_streams_is_counted_once() -> None:
    events = [kernel(i, 1e6, 100, stream=i) for i in range(4)] + [kernel(9, 1e6 + 100, 100)]
    assert read(dumped(profiler_trace(events))).gpu_busy_share == pytest.approx(1.0)


def test_shares_are_means_over_devices() -> None:
    steps = [event("ProfilerStep#1", "user_annotation", 1e6, 1000)]
    events = [*steps, kernel(1, 1e6, 1000), kernel(2, 1e6, 500, device=1)]
    trace = read(dumped(profiler_trace(events, distributedInfo={})))
    assert trace.gpu_busy_share == pytest.approx(0.75)
    assert trace.gpus == 2


def test_an_empty_step_at_the_end_does_not_count() -> None:
    events = [*profiler_events(), event("ProfilerStep#7", "user_annotation", 1.01e6, 5)]
    trace = read(dumped(profiler_trace(events)))
    assert trace.steps == 4
    assert any("almost empty" in text for text in trace.warnings)


def test_twins_of_steps_on_the_gpu_are_not_steps() -> None:
    twins = [event(f"ProfilerStep#{n}", "gpu_user_annotation", 1e6 + n, 17) for n in range(3, 7)]
    assert read(dumped(profiler_trace(twins + profiler_events()))).steps == 4


def test_a_first_step_that_compiles_is_no_step_time() -> None:
    events = [event("ProfilerStep#0", "user_annotation", 1e6, 13e6), kernel(1, 5e6, 2)]
    trace = read(dumped(profiler_trace(events)))
    assert trace.step_time_s is None
    assert any("compiled" in text for text in trace.warnings)


def test_peak_memory_is_that_of_the_gpu() -> None:
    samples = [memory(1e6, 3 * GIB), memory(1e6, 9 * GIB, 0), memory(1e6, 4 * GIB, 6)]
    trace = read(dumped(profiler_trace(profiler_events() + samples)))
    assert trace.peak_memory_bytes == 4 * GIB


def test_a_run_on_processors_has_no_gpus_however_many_ranks() -> None:
    info = {"backend": "gloo", "rank": 34, "world_size": 300}
    events = [event("ProfilerStep#1", "user_annotation", 1e6, 1000)]
    trace = read(dumped(profiler_trace(events, distributedInfo=info)))
    assert trace.gpus == 0
    assert trace.gpu_busy_share is None
    assert trace.ranks[0].rank == 34


def test_an_accelerator_that_is_no_gpu_is_named() -> None:
    events = [event("job", "mtia_ccp_events", 1e6, 10)]
    trace = read(dumped(profiler_trace(events, deviceProperties=[{"id": 1, "name": "ARTEMIS"}])))
    assert trace.gpus is None
    assert any("“ARTEMIS” is no GPU" in text for text in trace.warnings)


def test_the_schema_of_2021_is_read() -> None:
    old = {"kernel": "Kernel", "gpu_memcpy": "Memcpy", "cuda_runtime": "Runtime"}
    events = [e | {"cat": old.get(e["cat"], "Operator")} for e in profiler_events()]
    trace = read(dumped({"schemaVersion": 1, "traceEvents": events}))
    assert trace.step_time_s == pytest.approx(1e-3)
    assert trace.comm_share == pytest.approx(read(dumped(profiler_trace())).comm_share)


def test_metadata_may_stand_before_and_behind_the_events() -> None:
    trace = profiler_trace()
    events = trace.pop("traceEvents")
    behind = {"metadata": {"traceEvents": "none"}, "traceEvents": events} | trace
    assert read(dumped(behind)) == read(dumped(trace | {"traceEvents": events}))


@pytest.mark.parametrize("indent", [None, 0, 1, 4])
@pytest.mark.parametrize("count", [1, 40, 900])
def test_neither_layout_nor_length_matters(indent: int | None, count: int) -> None:
    events = profiler_events(steps=count)
    trace = read(dumped(profiler_trace(events), indent))
    assert trace.steps == count
    assert trace.kernels[0].calls == count


def test_keys_of_events_may_come_in_any_order() -> None:
    events = [dict(sorted(e.items(), reverse=True)) for e in profiler_events(steps=900)]
    unusual = [{"zzz": 1} | e for e in events]
    for given in (events, unusual):
        assert read(dumped(profiler_trace(given))).steps == 900


def test_lists_of_objects_within_an_event_are_no_events() -> None:
    nested = [{"name": "a", "ts": 1}, {"ph": "X", "ts": 2}]
    events = [e | {"args": e["args"] | {"list": nested}} for e in profiler_events(steps=700)]
    trace = read(dumped(profiler_trace(events)))
    assert trace.steps == 700
    assert not any("not valid" in text for text in trace.warnings)


def test_kernels_are_summed_by_name() -> None:
    trace = read(dumped(profiler_trace()))
    assert [(row.name, row.calls) for row in trace.kernels[:2]] == [
        ("gemm<128, 64>", 4),
        ("ncclDevKernel_AllReduce_Sum_f32", 4),
    ]
    assert trace.kernels[0].total_s == pytest.approx(1.6e-3)
    assert [row.is_comm for row in trace.kernels[:2]] == [False, True]


def test_work_launched_outside_steps_belongs_to_none() -> None:
    late = [launch(999, 1e6 + 50_000), kernel(999, 1e6 + 60_000, 10)]
    trace = read(dumped(profiler_trace(profiler_events() + late)))
    assert trace.step_time_s == pytest.approx(1e-3)


def test_a_trace_that_begins_at_time_zero_with_an_arrow_is_read() -> None:
    arrow = {"ph": "s", "id": 1, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 1, "ts": 0.0}
    events = profiler_events()
    first = min(event["ts"] for event in events if "ts" in event)
    shifted = [event | {"ts": event["ts"] - first} if "ts" in event else event for event in events]
    begun = read(dumped(profiler_trace([arrow, *shifted]), indent=None))
    assert begun.step_time_s == read(dumped(profiler_trace(events))).step_time_s


def test_the_timeline_adds_up_to_the_parts() -> None:
    trace = read(dumped(profiler_trace()))
    assert trace.timeline is not None
    assert trace.parts is not None
    for shares, whole_s in (
        (trace.timeline.compute, trace.parts.compute_s),
        (trace.timeline.comm_exposed, trace.parts.comm_exposed_s),
        (trace.timeline.memcpy, trace.parts.memcpy_s),
    ):
        assert sum(shares) * trace.timeline.slice_s == pytest.approx(whole_s, abs=1e-6)
    assert max(trace.timeline.compute) > 0
