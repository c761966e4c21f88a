"""The list of what users ask is whole, and the tests that it names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+) \|(.*)$", PAGE, re.MULTILINE)
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))


def test_every_report_has_one_line() -> None:
    assert [int(number) for number, _ in ROWS] == list(range(20, 79))


@pytest.mark.parametrize(("number", "line"), ROWS)
def test_a_line_has_its_source_and_a_test_or_a_reason(number: str, line: str) -> None:
    assert re.search(r"\]\(https://github\.com/[^)]+\)", line), number
    assert "::test_" in line or "Not done: " in line, number


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_a_test_that_is_named_exists(file: str, name: str) -> None:
    assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")
