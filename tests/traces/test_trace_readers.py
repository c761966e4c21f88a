"""Every registered reader keeps the contract on a small file of its format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from trace_examples import EXAMPLES

from advisor.cli import main
from advisor.testing.traces import TraceReaderContract
from advisor.traces import READERS, read
from advisor.traces.trace import MAIN_KEYS


class TestReaders(TraceReaderContract):
    @pytest.fixture(params=list(READERS))
    def reader_name(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    def example(self, reader_name: str) -> bytes:
        return EXAMPLES[reader_name]


def test_every_format_has_an_example() -> None:
    assert set(EXAMPLES) == set(READERS)


@pytest.mark.parametrize("name", list(READERS))
def test_every_format_is_documented(name: str) -> None:
    folder = Path(__file__).parents[2] / "docs" / "traces"
    text = (folder / f"{name}.md").read_text(encoding="utf-8")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## How to produce it", "## What is read", "## What it cannot tell"]
    assert f"({name}.md)" in (folder / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", list(READERS))
def test_every_format_is_told_by_the_command_trace(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a file"
    path.write_bytes(EXAMPLES[name])
    assert main(["trace", str(path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    known = read(path).to_dict()
    assert said == {key: known[key] for key in MAIN_KEYS}
