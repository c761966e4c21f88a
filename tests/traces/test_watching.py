"""How far a read is, and how it is told to end."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace_safety import tar, zipped
from trace_binaries import nsys
from trace_examples import dumped, megatron_log, profiler_events, profiler_trace

from advisor.traces import read, read_all
from advisor.traces.watching import ReadCancelledError

TRACE = dumped(profiler_trace(profiler_events(steps=2000)))


class Watch:
    """Keeps what it is told; ends the read after so many calls."""

    def __init__(self, most: int = 10**9) -> None:
        self.told: list[tuple[int, int]] = []
        self.counts: list[int] = []
        self._most = most

    def __call__(self, done_bytes: int, all_bytes: int) -> None:
        self.told.append((done_bytes, all_bytes))
        if len(self.told) >= self._most:
            raise ReadCancelledError("cancelled.")

    def steps(self, count: int) -> None:
        self.counts.append(count)


def test_a_trace_tells_its_bytes_and_the_steps_seen_so_far() -> None:
    watch = Watch()
    read(TRACE, progress=watch)
    assert watch.told[-1] == (len(TRACE), len(TRACE))
    assert watch.counts == sorted(watch.counts)
    assert watch.counts[-1] == 2000
    assert 0 < watch.counts[0] < 2000


def test_who_asks_for_bytes_alone_is_not_told_steps() -> None:
    done: list[int] = []
    read(TRACE, progress=lambda now, _: done.append(now))
    assert max(done) == len(TRACE)


@pytest.mark.parametrize("packed", [tar, zipped])
def test_the_members_of_an_archive_move_on_together(packed: object) -> None:
    archive = packed(("rank0.json", TRACE), ("rank1.json", TRACE))  # type: ignore[operator]
    watch = Watch()
    read(archive, progress=watch)
    shares = [done / whole for done, whole in watch.told if whole]
    assert all(0 <= share <= 1 for share in shares)
    assert shares[-1] == pytest.approx(1.0, abs=0.01)
    assert watch.counts[-1] == 2000


def test_a_read_ends_when_it_is_told_to(tmp_path: Path) -> None:
    files = [TRACE, megatron_log(3000).encode(), tar(("rank0.json", TRACE)),
             zipped(("rank0.json", TRACE), ("rank1.json", TRACE))]  # fmt: skip
    for data in files:
        whole = Watch()
        read_all(data, progress=whole)
        for most in {1, len(whole.told) // 2, len(whole.told)} - {0}:
            watch = Watch(most)
            with pytest.raises(ReadCancelledError):
                read_all(data, progress=watch)
            assert len(watch.told) == most


def test_nothing_is_left_of_a_read_that_was_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ReadCancelledError):
        read(zipped(("rank0.json", TRACE)), progress=Watch(3))
    assert list(tmp_path.iterdir()) == []


def test_a_database_can_be_ended_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "report.sqlite"
    path.write_bytes(nsys())
    whole = Watch()
    read(path, progress=whole)
    with pytest.raises(ReadCancelledError):
        read(path, progress=Watch(len(whole.told)))
