"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from advisor.core.files import atomic


def test_a_file_appears_once_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with atomic(path) as file:
        file.write(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]


def test_what_was_there_stays_when_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"old")

    def half() -> None:
        with atomic(path) as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]


def test_a_link_stays_a_link_and_permissions_are_handed_on(tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    with atomic(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_private_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    with atomic(tmp_path / "a", private=True) as file:
        file.write(b"secret")
    assert (tmp_path / "a").stat().st_mode & 0o077 == 0


def test_content_and_name_are_on_the_disk_before_it_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def noted_sync(descriptor: int) -> None:
        order.append("directory" if Path(f"/proc/self/fd/{descriptor}").is_dir() else "file")
        fsync(descriptor)

    def noted_replace(path: Path, target: Path) -> Path:
        order.append("rename")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    with atomic(tmp_path / "a") as file:
        file.write(b"1")
    assert order == ["file", "rename", "directory"]
