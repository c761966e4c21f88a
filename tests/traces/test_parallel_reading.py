"""Files of one job read side by side give what reading them one by one gives."""

from __future__ import annotations

import gzip
import os
import signal
import time
from pathlib import Path

import pytest
from test_trace_jobs import rank
from test_trace_safety import tar, zipped

from advisor.core.errors import TraceError
from advisor.traces import CutOffError, Limits, parallel, read, read_directory
from advisor.traces.parallel import Task, processes_for, side_by_side
from advisor.traces.watching import ReadCancelledError

SERIAL = Limits(processes=1)
PARALLEL = Limits(processes=2, processes_from_bytes=0)


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_processors", lambda: 2)


def ranks() -> list[tuple[str, bytes]]:
    """Return four ranks, one packed and one cut off, and a file that is none."""
    files = [(f"job/rank{n}.json", rank(n)) for n in range(4)]
    files[1] = ("job/rank1.json.gz", gzip.compress(files[1][1]))
    files[2] = (files[2][0], files[2][1][:-400])
    return [*files, ("job/picture.png", b"\x89PNG\r\n\x1a\n" + bytes(100))]


def test_the_job_is_the_same(tmp_path: Path) -> None:
    for name, data in ranks():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    one_by_one = read_directory(tmp_path, limits=SERIAL)
    assert [row.rank for row in one_by_one.ranks] == [0, 1, 3]
    assert read_directory(tmp_path, limits=PARALLEL) == one_by_one
    for packed in (tar(*ranks()), zipped(*ranks())):
        told: list[tuple[int, int]] = []
        job = read(packed, limits=PARALLEL, progress=lambda *now, told=told: told.append(now))
        assert job == read(packed, limits=SERIAL)
        assert told == sorted(told)
        assert 0 < told[-1][0] <= told[-1][1]


def test_errors_come_back_as_they_are(tmp_path: Path) -> None:
    names = ["whole.json", "cut.json"]
    (tmp_path / names[0]).write_bytes(rank(0))
    (tmp_path / names[1]).write_bytes(rank(1)[:-400])
    tasks = [Task(tmp_path / name, name) for name in names]
    whole, cut = side_by_side(tasks, 2, PARALLEL, lambda: None)
    assert whole.trace == read(tmp_path / names[0])
    with pytest.raises(CutOffError) as expected:
        read(tmp_path / names[1])
    assert isinstance(cut.error, CutOffError)
    assert cut.error.readable == expected.value.readable
    assert str(cut.error) == str(expected.value)


def test_a_process_that_is_killed_costs_one_file_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "hangs")
    (tmp_path / "good").write_bytes(rank(0))
    started: list[int] = []
    begin = parallel._Workers._start

    def start() -> object:
        process = begin()
        started.append(process.pid)
        return process

    def kill_first() -> None:
        if len(started) == 1:
            os.kill(started[0], signal.SIGKILL)

    monkeypatch.setattr(parallel._Workers, "_start", staticmethod(start))
    tasks = [Task(tmp_path / name, name) for name in ("hangs", "good")]
    first, second = side_by_side(tasks, 1, PARALLEL, kill_first)
    assert first.error is not None
    assert "was ended" in first.error.what
    assert second.trace is not None


def test_who_watches_can_end_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "hangs")
    begin_s = time.monotonic()

    def pulse() -> None:
        raise ReadCancelledError("cancelled.")

    with pytest.raises(ReadCancelledError):
        list(side_by_side([Task(tmp_path / "hangs", "hangs")], 1, PARALLEL, pulse))
    assert time.monotonic() - begin_s < 30


def test_content_of_all_members_together_is_limited() -> None:
    members = [(f"rank{n}.json.gz", gzip.compress(rank(n))) for n in range(4)]
    most = Limits(processes=2, processes_from_bytes=0, content_bytes=2 * len(rank(0)))
    with pytest.raises(TraceError, match="of content"):
        read(tar(*members), limits=most)


@pytest.mark.parametrize(
    ("size_bytes", "processors", "expected"),
    [(10**6, 8, 1), (10**9, 1, 1), (10**9, 2, 2), (10**9, 64, 8)],
)
def test_short_reads_and_a_single_processor_begin_no_processes(
    size_bytes: int, processors: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "_processors", lambda: processors)
    assert processes_for(Limits(), size_bytes) == expected
