"""Damaged, locked, full, read-only: the store says so, and loses nothing."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event

from advisor.core.errors import StoreError
from advisor.store import Store
from advisor.store.failures import explain
from advisor.testing.store_runs import run

KIB = 1024


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"


def make_store(path: Path, runs: int = 500) -> Path:
    with Store.open(url_of(path)) as store:
        store.add(run(i) for i in range(runs))
    return path


def on_disks(command: str, *arguments: str) -> bool:
    """Mount or unmount, if this user may."""
    program = shutil.which(command)
    if program is None or os.geteuid() != 0:
        return False
    return subprocess.run([program, *arguments], capture_output=True, check=False).returncode == 0


def mounted(path: Path) -> bool:
    """Mount a file system of 1 MiB there, if this user may."""
    path.mkdir()
    return on_disks("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(path))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    path = tmp_path / "disk"
    if not mounted(path):
        pytest.skip("only root may mount a small file system")
    yield path
    assert on_disks("umount", str(path))


@pytest.fixture
def sealable(tmp_path: Path) -> Iterator[tuple[Path, Callable[[], object]]]:
    """A directory, and what makes it read-only."""
    path = tmp_path / "directory"
    if mounted(path):
        yield path, lambda: on_disks("mount", "-o", "remount,ro", str(path))
        assert on_disks("umount", str(path))
    elif os.geteuid() == 0:
        pytest.skip("root writes everywhere, and may not mount here")
    else:
        yield path, lambda: path.chmod(0o555)
        path.chmod(0o755)


def garbage(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 64)


def text(path: Path) -> None:
    path.write_text("model,step_time_s\nResNet-50,0.3\n")


def cut_to(kept: Callable[[int], int]) -> Callable[[Path], None]:
    return lambda path: os.truncate(path, kept(path.stat().st_size))


def overwrite_head(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\xff" * 512)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(garbage, id="garbage"),
        pytest.param(text, id="text"),
        pytest.param(overwrite_head, id="head"),
        pytest.param(cut_to(lambda _: 10), id="10 bytes left"),
        pytest.param(cut_to(lambda _: 100), id="100 bytes left"),
        pytest.param(cut_to(lambda _: 4096), id="one page left"),
        pytest.param(cut_to(lambda size: size // 2), id="half left"),
        pytest.param(cut_to(lambda size: size - 4096), id="last page missing"),
        pytest.param(cut_to(lambda size: size - 1), id="last byte missing"),
    ],
)
def test_a_damaged_file_is_named_and_left_alone(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = make_store(tmp_path / "advisor.db")
    damage(path)
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        Store.open(url_of(path))
    message = str(caught.value)
    assert str(path) in message
    assert "damaged" in message
    assert "nothing was deleted" in message
    assert "Move the file away" in message
    assert "backup" in message
    assert "\n" not in message
    assert "Traceback" not in message
    assert caught.value.__cause__ is None
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["advisor.db"]


def test_damage_found_later_is_named_too(tmp_path: Path) -> None:
    path = make_store(tmp_path / "advisor.db", runs=5000)
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 4096 // 2 * 4096)
        file.write(b"\xff" * 400 * KIB)
    with Store.open(url_of(path)) as store, pytest.raises(StoreError, match="damaged"):
        store.profiles()


def test_a_damaged_snapshot_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Store.open(url_of(path)) as store:
        store.add_snapshot("abc", b"x", as_of=dt.date(2026, 1, 2), rows=1)
        with closing(sqlite3.connect(path)) as raw:
            raw.execute("UPDATE catalog_snapshots SET content = x'00ff'")
            raw.commit()
        with pytest.raises(StoreError, match="damaged"):
            store.snapshot("abc")


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = make_store(tmp_path / "a.db")
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
        raw.commit()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"newer version .*9999.* Update the advisor"):
        Store.open(url_of(path))
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE profiles (nickname TEXT)")
        raw.commit()
    with pytest.raises(StoreError, match="already exists"):
        Store.open(url_of(path))
    with closing(sqlite3.connect(path)) as raw:
        names = raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    assert names == [("profiles",)]


@pytest.mark.parametrize("name", ["missing/advisor.db", ""], ids=["no directory", "a directory"])
def test_a_place_where_no_file_can_be_is_explained(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="ADVISOR_DATA_DIR") as caught:
        Store.open(url_of(tmp_path / name))
    assert str(tmp_path) in str(caught.value)


def test_a_read_only_directory_is_explained(
    sealable: tuple[Path, Callable[[], object]],
) -> None:
    directory, seal = sealable
    path = make_store(directory / "advisor.db")
    before = path.read_bytes()
    seal()
    with pytest.raises(StoreError, match="cannot be opened for writing"):
        Store.open(url_of(directory / "new.db"))
    with pytest.raises(StoreError, match="cannot be opened for writing") as caught:
        Store.open(url_of(path))
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


def test_a_directory_that_becomes_read_only_is_explained(
    sealable: tuple[Path, Callable[[], object]],
) -> None:
    directory, seal = sealable
    path = make_store(directory / "advisor.db")
    with Store.open(url_of(path)) as store:
        seal()
        with pytest.raises(StoreError, match="cannot be opened for writing"):
            store.add([run(10_000)])


def test_a_full_disk_loses_nothing(small_disk: Path) -> None:
    path = make_store(small_disk / "advisor.db", runs=100)
    with Store.open(url_of(path)) as store:
        with pytest.raises(StoreError, match=r"no space left .*Make room"):
            store.add(run(i) for i in range(100, 20_000))
        assert store.count() == 100
        assert store.add([run(100)]).added == 1


def test_a_file_that_may_not_grow_loses_nothing(tmp_path: Path) -> None:
    path = make_store(tmp_path / "advisor.db", runs=100)
    with Store.open(url_of(path)) as store:

        @event.listens_for(store._engine, "connect")
        def _(connection: sqlite3.Connection, _record: object) -> None:
            connection.execute("PRAGMA max_page_count=60")

        with pytest.raises(StoreError, match="no space left"):
            store.add(run(i) for i in range(100, 2000))
        assert store.count() == 100


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    path = make_store(tmp_path / "a.db", runs=1)
    with (
        Store.open(url_of(path)) as store,
        closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(0.3, other.execute, ["COMMIT"])
        timer.start()
        assert store.count() == 1, "readers do not wait"
        assert store.add([run(5)]).added == 1
        timer.join()


def test_a_lock_that_stays_is_explained(tmp_path: Path) -> None:
    path = make_store(tmp_path / "a.db", runs=1)
    with (
        Store.open(url_of(path), wait_s=0.2) as store,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        start = time.monotonic()
        with pytest.raises(StoreError, match="another program is writing"):
            store.add([run(5)])
        assert 0.2 <= time.monotonic() - start < 2
        other.execute("ROLLBACK")
        assert store.add([run(5)]).added == 1


def test_a_new_store_that_someone_locks_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="another program is writing"):
            Store.open(url_of(path), wait_s=0.2)
        other.execute("ROLLBACK")
    Store.open(url_of(path)).close()


def test_a_sick_disk_is_explained() -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHORT_READ
    assert "disk did not read or write" in str(explain(error, "a.db"))


def test_an_error_of_another_database_is_passed_on() -> None:
    told = explain(RuntimeError("connection refused\nmore"), "postgresql://host/db")
    assert str(told).startswith("postgresql://host/db: the database refused (connection refused);")
