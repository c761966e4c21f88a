"""The code of docs/python-api.md runs and prints what stands there."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from advisor.advice import opened as of_process

if TYPE_CHECKING:
    from advisor.advice import Engine

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python-api.md"
BLOCK = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def values(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def words(text: str) -> str:
    return " ".join(NUMBER.sub("#", text).split())


def test_the_code_prints_what_it_says(
    engine: Engine, engine_data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(engine_data_dir))
    monkeypatch.setattr(of_process, "_opened", {engine_data_dir: engine})
    page = PAGE.read_text(encoding="utf-8")
    blocks = BLOCK.findall(page)
    assert len(blocks) == page.count("```python") == 7
    names: dict[str, Any] = {}
    for code, said in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, names)  # noqa: S102 - it stands in our own page
        printed = out.getvalue()
        assert words(printed) == words(said)
        # Prices and measured runs move a little between releases.
        assert values(printed) == pytest.approx(values(said), rel=0.1, abs=0.11)
