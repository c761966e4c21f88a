"""Texts of a program's call: given as they are, or as paths of files that hold them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from advisor.advice.given_values import texts_of
from advisor.core.errors import InvalidInputError


@pytest.mark.parametrize("text", ["p4d.24xlarge,4", "p4d.24xlarge\t4", "p4d.24xlarge;4", "{}", ""])
def test_a_text_is_taken_as_it_is(text: str) -> None:
    assert texts_of("quotas", text) == texts_of("quotas", [text]) == [text]


def test_a_path_is_read(tmp_path: Path) -> None:
    path = tmp_path / "quotas.csv"
    path.write_text("p4d.24xlarge,4", encoding="utf-8-sig")
    assert texts_of("quotas", path) == texts_of("quotas", str(path)) == ["p4d.24xlarge,4"]


@pytest.mark.parametrize("value", [5, [5], {"p4d.24xlarge": 4}, "a\0b", "x" * 5000, "missing"])
def test_what_is_neither_is_refused_in_words(value: Any) -> None:
    with pytest.raises(InvalidInputError) as caught:
        texts_of("quotas", value)
    assert caught.value.where.startswith("quotas")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "quotas.csv"
    path.write_bytes(b"\xff\xfe,")
    with pytest.raises(InvalidInputError, match="UTF-8"):
        texts_of("quotas", path)
