"""Backups and restores that cannot finish lose nothing."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from backup_examples import content
from sqlalchemy import event

from advisor.core.errors import InvalidInputError, StoreError
from advisor.store import Store
from advisor.testing.store_runs import run


def test_a_full_disk_keeps_the_older_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.backup"
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        store.add([run(1)])
        store.backup(path)
        before = path.read_bytes()

        def full(*_: object) -> None:
            raise OSError(28, os.strerror(28))

        monkeypatch.setattr("zipfile.ZipFile.writestr", full)
        with pytest.raises(InvalidInputError, match="No space left on device"):
            store.backup(path)
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.backup", "a.db"]


def test_a_restore_into_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/big.db") as big:
        big.add(run(i) for i in range(5000))
        big.backup(tmp_path / "a.backup")
    with Store.open(f"sqlite:///{tmp_path}/b.db") as store:
        store.add([run(1)])
        before = content(store)

        @event.listens_for(store._engine, "connect")
        def _(connection: sqlite3.Connection, _record: object) -> None:
            connection.execute("PRAGMA max_page_count=100")

        with pytest.raises(StoreError, match="no space left"):
            store.restore(tmp_path / "a.backup", replace=True)
        assert content(store) == before


RESTORE = """
import sys, time
from pathlib import Path
from sqlalchemy import event
from advisor.store import Store

url, path = sys.argv[1:]
with Store.open(url) as store:
    @event.listens_for(store._engine, "after_cursor_execute")
    def _(connection, cursor, statement, parameters, context, executemany):
        if statement.startswith("INSERT INTO profiles"):
            print("half", flush=True)
            time.sleep(60)
    store.restore(Path(path), replace=True)
"""


def test_a_restore_that_is_killed_loses_nothing(any_url: str, backup: Path) -> None:
    with Store.open(any_url) as store:
        store.add([run(1000)])
        before = content(store)
        command = [sys.executable, "-c", RESTORE, any_url, str(backup)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "half\n"
            assert content(store) == before, "readers see the old until the new is whole"
            process.kill()
        assert content(store) == before
        store.restore(backup, replace=True)
        assert len(store.plans()) == 1
