"""Several files of one job become one trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trace_tables as tables
from test_trace_safety import tar, zipped
from trace_examples import dumped, profiler_events, profiler_trace, train_results, trainer_state

from advisor.core.errors import TraceError
from advisor.traces import Trace, read, read_directory


def rank(number: int | None, *, of: int = 4, period: float = 1000.0, steps: int = 4) -> bytes:
    info = None if number is None else {"backend": "nccl", "rank": number, "world_size": of}
    events = profiler_events(steps=steps, period=period, host=min(600.0, period))
    return dumped(profiler_trace(events, distributedInfo=info))


def folder_of(path: Path, **files: bytes) -> Path:
    for name, data in files.items():
        (path / f"{name}.json").write_bytes(data)
    return path


def test_a_folder_a_zip_and_a_tar_give_the_same_job(tmp_path: Path) -> None:
    files = {f"r{n}": rank(n) for n in range(4)}
    folder = read_directory(folder_of(tmp_path, **files))
    members = [(f"job/{name}.json", data) for name, data in files.items()]
    packed = [read(tar(*members)), read(zipped(*members)), read(tar(*members, mode="w"))]
    assert all(job.ranks == folder.ranks for job in packed)
    assert all(
        job.to_dict() | {"format": ""} == folder.to_dict() | {"format": ""} for job in packed
    )
    assert folder.gpus == 4
    assert [row.rank for row in folder.ranks] == [0, 1, 2, 3]
    assert read(tmp_path) == folder


def test_the_job_waits_for_its_slowest_rank(tmp_path: Path) -> None:
    files = {f"r{n}": rank(n, period=1500 if n == 2 else 1000) for n in range(4)}
    job = read(folder_of(tmp_path, **files))
    assert job.step_time_s == pytest.approx(1.5e-3)
    assert any("Rank 2 is the slowest: 1.5 ms a step against 1 ms" in text for text in job.warnings)
    busy = [row.gpu_busy_share for row in job.ranks]
    assert job.gpu_busy_share == pytest.approx(sum(b for b in busy if b is not None) / 4)


def test_missing_ranks_are_named(tmp_path: Path) -> None:
    job = read(folder_of(tmp_path, a=rank(0, of=8), b=rank(5, of=8)))
    assert any("Ranks 1–4, 6–7 of 8 are missing" in text for text in job.warnings)


def test_ranks_are_taken_from_names_where_files_do_not_say_them(tmp_path: Path) -> None:
    files = {"worker3": rank(None), "worker1": rank(None, period=1500)}
    job = read(folder_of(tmp_path, **files))
    assert [row.rank for row in job.ranks] == [1, 3]
    assert job.ranks[0].step_time_s == pytest.approx(1.5e-3)
    assert any("numbered by file name" in text for text in job.warnings)
    assert job.gpus == 2


def test_of_repeated_ranks_the_longest_counts(tmp_path: Path) -> None:
    job = read(folder_of(tmp_path, a=rank(0, of=1, steps=2), b=rank(0, of=1, steps=5)))
    assert job.steps == 5
    assert len(job.ranks) == 1


def test_files_of_one_run_complete_each_other(tmp_path: Path) -> None:
    summary, metadata = dumped(tables.WANDB_SUMMARY), dumped(tables.WANDB_METADATA)
    job = read(folder_of(tmp_path, summary=summary, metadata=metadata))
    assert job.format == "wandb_summary"
    assert job.step_time_s == pytest.approx(5.0)
    assert (job.gpu_name, job.gpus_on_host) == ("NVIDIA A100-SXM4-80GB", 8)
    assert job.throughput_unit == "samples/s"


def test_results_and_state_of_one_run(tmp_path: Path) -> None:
    files = {"all_results": dumped(train_results()), "trainer_state": dumped(trainer_state())}
    job = read(folder_of(tmp_path, **files))
    assert (job.format, job.step_time_s) == ("hf_trainer_state", pytest.approx(4.0))


def test_a_folder_without_traces(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no trace or log"):
        read(folder_of(tmp_path, readme=b"nothing here\n"))


def test_a_job_keeps_no_names_of_files(tmp_path: Path) -> None:
    job = read(folder_of(tmp_path, alice_lab7=rank(0), alice_lab8=rank(1)))
    assert "alice" not in json.dumps(job.to_dict())


def test_a_trace_becomes_a_profile() -> None:
    trace = read(rank(0))
    profile = trace.to_profile(model="GPT-2 XL", family="language", source="my run")
    assert profile.step_time_s == trace.step_time_s
    assert (profile.accelerator, profile.accelerators) == ("NVIDIA A100-SXM4-80GB", 4)
    assert profile.comm_share == trace.comm_share
    assert profile.provenance.source == "my run"


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({}, "the model"),
        ({"gpu_name": None}, "the model and the accelerator"),
        ({"step_time_s": None, "gpus": 0}, "the number of accelerators and a step time"),
    ],
)
def test_a_profile_needs_what_the_file_may_not_say(changes: dict[str, Any], missing: str) -> None:
    trace: Trace = read(rank(0)).model_copy(update=changes)
    with pytest.raises(TraceError, match=missing):
        trace.to_profile()


def test_the_timeline_of_a_job_is_that_of_its_slowest_rank() -> None:
    files = [(f"{i}.json", rank(i, period=1500.0 if i == 2 else 1000.0)) for i in range(4)]
    job = read(tar(*files), "job.tar.gz")
    assert job.timeline == read(files[2][1]).timeline
