"""Which files are taken as one job, and which as runs of their own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.traces import Trace
from advisor.traces.grouping import by_folder, one_job
from advisor.traces.job import Part
from advisor.traces.trace import RankRow

UNSURE = "The file does not say which rank it is of; taken as rank 0."


def process(name: str, rank: int | None = 0, gpus: int | None = 4, **fields: Any) -> Part:
    warnings = () if rank is not None else (UNSURE,)
    trace = Trace(
        format="kineto_chrome_trace", ranks=(RankRow(rank=rank or 0),), gpus=gpus,
        warnings=warnings, **({"step_time_s": 1.0} | fields),
    )  # fmt: skip
    return Part(name, trace)


def log(name: str, kind: str = "megatron_log", **fields: Any) -> Part:
    return Part(name, Trace(format=kind, **({"step_time_s": 1.0} | fields)))


STAMPED = "host_{}.1700000000000.pt.trace.json.gz"
TOGETHER = {
    "ranks": [process("a", 0), process("b", 1)],
    "ranks in folders of their own": [process("rank0/t.json", 0), process("rank1/t.json", 1)],
    "ranks told by names": [process("worker0.json", None, 1), process("worker1.json", None, 1)],
    "ranks told by folders": [process("rank_0/t", None, 1), process("rank_1/t", None, 1)],
    "named by the profiler": [process(STAMPED.format(11), None, 1),
                              process(STAMPED.format(12), None, 1)],
    "recorded twice": [process("a", 0), process("b", 1), process("c", 0), process("d", 1)],
    "a trace and a log of its run": [process("a", 0), process("b", 1), log("out.txt")],
    "the profiler slows down": [process("a", 0, step_time_s=1.9), log("out.txt")],
    "a log and the use of its devices": [
        log("out.txt", gpu_name="A100-SXM4-80GB"),
        log("smi.csv", "nvidia_smi_csv", step_time_s=None, gpu_busy_share=0.9,
            gpu_name="NVIDIA A100-SXM4-80GB"),
    ],
    "a second file without numbers": [log("a"), log("b", step_time_s=None)],
}  # fmt: skip
APART = {
    "two logs of a kind": [log("a"), log("b")],
    "other devices": [process("a", 0, gpu_name="Tesla V100"), process("b", 1, gpu_name="H100")],
    "other sizes": [process("a", 0, 4), process("b", 1, 8)],
    "the only rank twice": [process("a", 0, 1), process("b", 0, 1)],
    "names without numbers": [process("a.json", None, 1), process("b.json", None, 1)],
    "the same ranks in two folders": [
        *(process(f"x/{n}", n) for n in range(2)), *(process(f"y/{n}", n) for n in range(2)),
    ],
    "a log of another speed": [process("a", 0, step_time_s=1.0), log("out.txt", step_time_s=3.0)],
    "another kind of trace": [process("a", 0), Part("b", process("b", 1).trace.model_copy(
        update={"format": "xla_trace_json"}))],
}  # fmt: skip


@pytest.mark.parametrize("name", TOGETHER)
def test_files_that_fit_together_are_one_job(name: str) -> None:
    assert one_job(TOGETHER[name])


@pytest.mark.parametrize("name", APART)
def test_files_that_contradict_each_other_are_not(name: str) -> None:
    assert not one_job(APART[name])


@given(st.permutations(range(8)))
def test_the_order_of_the_files_does_not_matter(order: list[int]) -> None:
    parts = [process(f"t{n}.json", n, 8) for n in range(8)]
    assert one_job([parts[n] for n in order])


def test_files_are_grouped_by_their_folders_in_the_order_in_which_those_come() -> None:
    parts = [log("b/1"), log("a/1"), log("b\\2"), log("top")]
    assert [[part.name for part in group] for group in by_folder(parts)] == [
        ["b/1", "b\\2"], ["a/1"], ["top"],
    ]  # fmt: skip
