"""Rows of the user's file: read as a table, or refused with the reason."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from advisor.core.errors import InvalidInputError
from benchmarks import accuracy
from benchmarks.boards.given_rows import read_given_rows

if TYPE_CHECKING:
    from pathlib import Path


def test_an_infinite_number_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("model,gpus,step_time_s\na,8,inf\nb,-inf,0.5\n")
    rows = read_given_rows(path)
    assert rows["model"].tolist() == ["a", "b"]
    assert np.isnan(rows["step_time_s"][0])
    assert np.isnan(rows["gpus"][1])
    assert rows["step_time_s"][1] == 0.5


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be opened"),
        (b"", "no CSV table"),
        (b"model,gpus\n", "no rows"),
        (b"\x89PNG\r\n\x1a\n\xff\xfe\x00", "no CSV table"),
        (b'a,b\n1,2\n1,2,3,4\n"', "no CSV table"),
    ],
)
def test_a_file_that_is_no_table_is_refused_by_its_name_alone(
    tmp_path: Path, content: bytes | None, says: str
) -> None:
    path = tmp_path / "rows.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=says) as caught:
        read_given_rows(path)
    assert "rows.csv" in str(caught.value)
    assert str(tmp_path) not in str(caught.value)
    assert caught.value.todo


def test_the_command_says_what_is_wrong_and_ends_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ADVISOR_REFERENCE_DIR", str(tmp_path))
    monkeypatch.setattr(
        sys, "argv", ["accuracy", "--board", "claims", "--rows", str(tmp_path / "none.csv")]
    )
    assert accuracy.main() == 2
    said = capsys.readouterr().err
    assert "none.csv" in said
    assert "Traceback" not in said
