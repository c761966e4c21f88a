"""Real public traces against the answers worked out by other means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from advisor.core.errors import TraceError
from advisor.testing import manifest
from advisor.traces import read

if TYPE_CHECKING:
    from pathlib import Path

ROWS: Final = manifest.rows()
PARSED: Final = [name for name in ROWS if name not in manifest.REFUSED]


@pytest.mark.reference
def test_the_manifest_is_there(reference: Path) -> None:
    assert (reference / manifest.FOLDER / "MANIFEST.csv").is_file()
    assert len(ROWS) >= 60


@pytest.mark.reference
@pytest.mark.parametrize("name", PARSED)
def test_a_real_file_gives_the_right_answers(name: str, reference: Path) -> None:
    manifest.check(read(manifest.path_of(reference, name)).to_dict(), ROWS, name)


@pytest.mark.reference
@pytest.mark.parametrize("name", sorted(set(manifest.REFUSED) & set(ROWS)))
def test_a_real_file_that_cannot_be_read_says_why(name: str, reference: Path) -> None:
    with pytest.raises(TraceError, match=manifest.REFUSED[name]):
        read(manifest.path_of(reference, name))


@pytest.mark.reference
def test_two_ranks_of_many_are_one_job(reference: Path) -> None:
    trace = read(manifest.path_of(reference, "kineto/multiworker_2of128"))
    assert trace.gpus == 128
    assert [row.rank for row in trace.ranks] == [0, 1]
    assert trace.step_time_s == pytest.approx(0.630512, rel=0.02)
    assert any("2–127 of 128 are missing" in text for text in trace.warnings)
