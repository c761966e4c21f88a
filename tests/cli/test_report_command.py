"""The command ``report``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_line import (  # noqa: F401 - fixtures
    run_fixture,
)

from advisor.domain import Proposal
from advisor.testing.store_plans import WORKLOAD, plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command_line import Ran


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(Proposal(plan=plan(), workload=WORKLOAD).to_json())
    return path


@pytest.mark.parametrize(("name", "start"), [("a.html", b"<!DOCTYPE html>"), ("A.PDF", b"%PDF-")])
def test_the_end_of_the_name_says_the_format(
    run: Callable[..., Ran], file: Path, tmp_path: Path, name: str, start: bytes
) -> None:
    ran = run("report", str(file), "-o", str(tmp_path / name))
    assert ran.code == 0, ran.err
    assert plan().id in ran.out
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["report", "report.docx", "no/report.pdf"])
def test_a_file_that_cannot_be_is_refused_before_anything_is_read(
    run: Callable[..., Ran], tmp_path: Path, name: str
) -> None:
    ran = run("report", "nothing.json", "-o", str(tmp_path / name))
    assert (ran.code, ran.out) == (2, "")
    assert "nothing.json" not in ran.err
