"""The user's data directory."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from advisor.core.errors import StoreError
from advisor.core.paths import TABLES_DIR, data_dir


def test_the_directory_of_the_environment_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "a" / "b"))
    assert data_dir() == tmp_path / "a" / "b"
    assert data_dir().is_dir()


def test_without_it_the_platform_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ADVISOR_DATA_DIR")
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda _name: str(tmp_path / "own"))
    assert data_dir() == tmp_path / "own"


def test_the_home_directory_may_be_written_as_a_tilde(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ADVISOR_DATA_DIR", "~/advisor")
    assert data_dir() == tmp_path / "advisor"


@pytest.mark.parametrize("below", ["file", "file/deeper", "~nobody-has-this-name/x"])
def test_a_directory_that_cannot_be_made_is_said(
    below: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a directory")
    place = below if below.startswith("~") else str(tmp_path / below)
    monkeypatch.setenv("ADVISOR_DATA_DIR", place)
    with pytest.raises(StoreError, match="the data directory cannot be made") as caught:
        data_dir()
    assert "ADVISOR_DATA_DIR" in caught.value.todo


def test_the_tables_are_shipped_beside_the_code() -> None:
    assert (TABLES_DIR / "catalog" / "offers.csv").is_file()
