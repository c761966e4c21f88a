"""Ranks that were dropped together are one job; nothing else is joined."""

from __future__ import annotations

from advisor.core.errors import TraceError
from advisor.testing.uploads import profiler_trace
from advisor.traces import read
from advisor.ui.dropped_ranks import with_jobs
from advisor.ui.reads import Upload


def rank(number: int, batch: int = 0, of: int = 4, device: str = "A100") -> Upload:
    data = profiler_trace(
        distributedInfo={"rank": number, "world_size": of},
        deviceProperties=[{"id": 0, "name": device}],
    )
    return Upload(10 * batch + number, f"rank{number}.json", (read(data),), batch=batch)


def test_ranks_of_one_drop_are_joined() -> None:
    (job,) = with_jobs([rank(2), rank(0), rank(1)])
    assert (job.number, job.name) == (2, "3 files: rank2.json …")
    assert [row.rank for row in job.traces[0].ranks] == [0, 1, 2]
    assert job.findings


def test_a_rank_that_is_read_later_joins_the_others() -> None:
    (job,) = with_jobs([*with_jobs([rank(0), rank(1)]), rank(3)])
    assert [row.rank for row in job.traces[0].ranks] == [0, 1, 3]
    assert with_jobs([job]) == [job]


def test_drops_devices_sizes_and_doubled_ranks_stay_apart() -> None:
    for apart in (
        [rank(0), rank(1, batch=1)],
        [rank(0), rank(1, device="H100")],
        [rank(0), rank(1, of=8)],
        [rank(0, of=1), rank(0, of=1)],
    ):
        assert len(with_jobs(apart)) == 2


def test_files_without_ranks_are_left_as_they_are() -> None:
    bad = Upload(5, "bad", error=TraceError("bad."), batch=0)
    table = Upload(1, "runs.csv", rank(0).traces * 2, batch=0)
    assert with_jobs([bad, table, rank(0)]) == [rank(0), table, bad]
