"""A damaged table is refused with file, row, column and what to do; nothing becomes 0."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from advisor.catalog.providers.snapshot import FILES, SnapshotProvider
from advisor.catalog.tables import Table, read_table
from advisor.core.errors import CatalogError
from advisor.core.paths import TABLES_DIR

PRICES = Table(
    {"cloud": "text", "usd_per_h": "number", "as_of": "date"}, key=("cloud",), filled=("usd_per_h",)
)


def refusal(path: Path, text: str | bytes) -> CatalogError:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(CatalogError) as caught:
        read_table(path, PRICES)
    assert str(path) in caught.value.where
    assert caught.value.todo
    return caught.value


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("cloud,usd_per_h\naws,1\n", "prices.csv", "as_of"),
        ("cloud,usd_per_h,as_of\naws,1,\ngcp,cheap,\n", "row 3, column usd_per_h", "cheap"),
        ("cloud,usd_per_h,as_of\naws,,\n", "row 2, column usd_per_h", "is empty"),
        ("cloud,usd_per_h,as_of\naws,inf,\n", "row 2, column usd_per_h", "inf"),
        ("cloud,usd_per_h,as_of\naws,nan,\n", "row 2, column usd_per_h", "nan"),
        ("cloud,usd_per_h,as_of\naws,1,July\n", "row 2, column as_of", "July"),
        ("cloud,usd_per_h,as_of\naws,1,\naws,2,\n", "row 3, column cloud", "stands twice"),
        ("cloud,usd_per_h,as_of\naws,1,,\n", "prices.csv", "more cells"),
        ("cloud,usd_per_h,as_of\naws,1,\ngcp,1,,\n", "prices.csv", "line 3"),
        ("cloud,usd_per_h,as_of\naws,1,\ngcp\n", "row 3, column usd_per_h", "is empty"),
        ("cloud,usd_per_h,as_of\n", "prices.csv", "no rows"),
        ("", "prices.csv", "cannot be read"),
        (b"\xff\xfe\x00cloud", "prices.csv", ""),
    ],
)
def test_damage_is_explained(tmp_path: Path, text: str | bytes, place: str, what: str) -> None:
    error = refusal(tmp_path / "prices.csv", text)
    assert place in error.where
    assert what in error.what


def test_a_missing_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"prices\.csv: the file is missing\. Restore"):
        read_table(tmp_path / "prices.csv", PRICES)


def test_empty_cells_are_unknown(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("cloud,usd_per_h,as_of,extra\naws,1,,x\n")
    frame = read_table(path, PRICES)
    assert frame["as_of"].isna().all()
    assert list(frame) == ["cloud", "usd_per_h", "as_of"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy = tmp_path / "catalog"
    shutil.copytree(TABLES_DIR / "catalog", copy)
    return copy


@pytest.mark.parametrize("name", list(FILES))
def test_every_file_of_the_snapshot_is_needed(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(CatalogError, match="missing"):
        SnapshotProvider(folder).fetch()


def test_a_source_that_is_not_described_is_refused(folder: Path) -> None:
    path = folder / "storage.csv"
    path.write_text(path.read_text().replace("cyclenerd", "hearsay", 1))
    with pytest.raises(CatalogError, match="hearsay"):
        SnapshotProvider(folder).fetch()


def test_line_ends_do_not_change_the_hash(folder: Path) -> None:
    path = folder / "storage.csv"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert SnapshotProvider(folder).fetch().hash == SnapshotProvider().fetch().hash
    path.write_bytes(path.read_bytes().replace(b"0.1309", b"0.1310"))
    assert SnapshotProvider(folder).fetch().hash != SnapshotProvider().fetch().hash
