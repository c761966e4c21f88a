"""Backups: one moment of the store, in one file, back into any kind of database, or not at all."""

from __future__ import annotations

import datetime as dt
import json
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from advisor.core.errors import InvalidInputError, StoreError
from advisor.store import Store
from advisor.testing.store import SOURCE, full_run, run
from advisor.testing.store_plans import INPUTS, WORKLOAD, measured, plan


def fill(store: Store) -> None:
    """Put something of everything into a store."""
    store.replace_seed([run(i) for i in range(30)], "tables")
    store.add([full_run(), run(3), run(100, provenance=SOURCE.model_copy(update={"notes": "ü"}))])
    store.correct_profile(run(4).content_hash, {"step_time_s": 77.0})
    store.mark_outlier(run(5).content_hash)
    store.delete_profile(run(6).content_hash)
    key = store.save_plan(plan(), WORKLOAD, job="toy", inputs=INPUTS).id
    store.finish_plan(key, hours=11.25, cost_usd=1 / 3, note="one “restart”")
    store.finish_plan(key, profile=measured())
    store.rename_plan(key, "mine")
    store.delete_plan(store.save_plan(plan(3), WORKLOAD).id)
    store.add_snapshot("abc", b"price\n" * 999, as_of=dt.date(2026, 1, 2), rows=998)


def content(store: Store) -> dict[str, Any]:
    """Return everything in a store, as text that can be compared."""
    return {
        "profiles": store.profiles(state=None).astype(str).to_dict("records"),
        "plans": store.plans() + store.plans(deleted=True),
        "edits": store.edits(),
        "hashes": (store.data_hash(), store.seed_hash()),
    }


@pytest.fixture
def filled(any_url: str) -> Store:
    with Store.open(any_url) as store:
        fill(store)
    return store


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A backup of a store with something of everything."""
    with Store.open(f"sqlite:///{tmp_path}/origin.db") as store:
        fill(store)
        store.backup(tmp_path / "a.backup")
    return tmp_path / "a.backup"


def rewritten(path: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Change the files in a backup, and write it again."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def forged(table: str, **fields: Any) -> Callable[[dict[str, bytes]], None]:
    """Change fields of the first row of a table, and the checksum with them."""

    def change(files: dict[str, bytes]) -> None:
        first, *rest = files[f"{table}.jsonl"].splitlines(keepends=True)
        changed = json.loads(first) | fields
        row = {name: value for name, value in changed.items() if value is not ...}
        files[f"{table}.jsonl"] = b"".join([json.dumps(row).encode() + b"\n", *rest])
        manifest = json.loads(files["manifest.json"])
        manifest["tables"][table]["sha256"] = sha256(files[f"{table}.jsonl"]).hexdigest()
        files["manifest.json"] = json.dumps(manifest).encode()

    return change


@pytest.fixture(params=["sqlite", "postgresql"])
def into_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Another empty database, of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/into.db"
    else:
        with request.getfixturevalue("postgres").database() as url:
            yield url


def test_a_backup_moves_everything_between_kinds_of_database(
    filled: Store, into_url: str, tmp_path: Path
) -> None:
    told = filled.backup(tmp_path / "a.backup")
    assert (told.runs, told.own_runs, told.plans) == (31, 5, 1)
    assert told.size_bytes == (tmp_path / "a.backup").stat().st_size
    with Store.open(into_url) as other:
        restored = other.restore(tmp_path / "a.backup")
        assert restored == told
        assert content(other) == content(filled)
        assert other.snapshot("abc").content == b"price\n" * 999
        # Numbering goes on where it was, and what can be undone still can.
        assert other.undo().action == "delete_plan"
        assert other.add([run(500)]).added == 1
        other.rename_plan(other.plans()[0].id, "anew")
        other.backup(tmp_path / "b.backup")


def test_an_empty_store_can_be_backed_up(any_url: str, tmp_path: Path) -> None:
    with Store.open(any_url) as store:
        assert store.backup(tmp_path / "a.backup").runs == 0
        assert store.restore(tmp_path / "a.backup").runs == 0
        store.add([run(1)])


def test_a_store_with_own_content_is_replaced_on_request_only(
    filled: Store, backup: Path, tmp_path: Path
) -> None:
    before = content(filled)
    with pytest.raises(InvalidInputError, match=r"of your own.*--force"):
        filled.restore(backup)
    assert content(filled) == before
    filled.restore(backup, replace=True)
    with Store.open(f"sqlite:///{tmp_path}/origin.db") as origin:
        assert content(filled) == content(origin)


def test_a_store_with_shipped_runs_only_is_replaced(tmp_path: Path, backup: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/b.db") as store:
        store.replace_seed([run(900)], "newer tables")
        store.restore(backup)
        assert store.seed_hash() == "tables"


def test_an_older_backup_is_replaced_and_other_files_are_not(tmp_path: Path) -> None:
    path = tmp_path / "a.backup"
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        store.backup(path)
        store.add([run(1)])
        assert store.backup(path).runs == 1
        notes = tmp_path / "notes.txt"
        notes.write_text("mine")
        for other in (notes, tmp_path / "a.db", tmp_path):
            before = other.is_file() and other.read_bytes()
            with pytest.raises(InvalidInputError, match=r"no backup|directory"):
                store.backup(other)
            assert (other.is_file() and other.read_bytes()) == before
        with pytest.raises(InvalidInputError, match="No such file"):
            store.backup(tmp_path / "no" / "a.backup")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.backup", "a.db", "notes.txt"]


@pytest.mark.parametrize(
    "manifest",
    ['{"name": "extension", "manifest_version": 3}', "[]", "{", "kind", "other files"],
)
def test_a_zip_of_another_program_is_neither_replaced_nor_restored(
    tmp_path: Path, backup: Path, manifest: str
) -> None:
    def change(files: dict[str, bytes]) -> None:
        if manifest == "other files":
            files["photos.jpg"] = b"mine"
            return
        ours = json.loads(files.pop("manifest.json")) | {"kind": "another backup"}
        files["manifest.json"] = (json.dumps(ours) if manifest == "kind" else manifest).encode()

    before = rewritten(backup, change).read_bytes()
    with Store.open(f"sqlite:///{tmp_path}/b.db") as store:
        with pytest.raises(InvalidInputError, match="no backup; it was left as it is"):
            store.backup(backup)
        assert backup.read_bytes() == before
        with pytest.raises(InvalidInputError, match=r"no backup of the advisor|damaged"):
            store.restore(backup)


def test_a_backup_of_another_version_may_be_replaced(tmp_path: Path, backup: Path) -> None:
    def change(files: dict[str, bytes]) -> None:
        manifest = json.loads(files["manifest.json"]) | {"schema_revision": "0000"}
        del manifest["tables"]["edits"], files["edits.jsonl"]
        files["manifest.json"] = json.dumps(manifest).encode()

    rewritten(backup, change)
    with Store.open(f"sqlite:///{tmp_path}/origin.db") as store:
        assert store.backup(backup).plans == 1


def add_until(url: str, started: Event, stop: Event) -> None:
    """Add pairs of runs, each pair in one transaction, and plans beside them."""
    with Store.open(url) as store:
        number = 0
        while not stop.is_set():
            store.add([run(number), run(number + 1)])
            store.save_plan(plan(), WORKLOAD, name=f"plan {number}")
            number += 2
            started.set()


def test_a_backup_sees_one_moment_while_another_process_writes(
    any_url: str, tmp_path: Path
) -> None:
    with Store.open(any_url):
        pass
    context = multiprocessing.get_context("spawn")
    started, stop = context.Event(), context.Event()
    writer = context.Process(target=add_until, args=(any_url, started, stop))
    writer.start()
    seen = []
    try:
        assert started.wait(timeout=60)
        with Store.open(any_url) as store:
            for number in range(5):
                path = tmp_path / f"{number}.backup"
                before = store.count()
                told = store.backup(path)
                assert before <= told.runs <= store.count()
                seen.append(told.runs)
    finally:
        stop.set()
        writer.join(timeout=60)
        code = writer.exitcode
        writer.kill()
    assert code == 0
    assert seen == sorted(seen)
    for number, runs in enumerate(seen):
        with Store.open(f"sqlite:///{tmp_path}/{number}.db") as copy:
            told = copy.restore(tmp_path / f"{number}.backup")
            assert copy.count() == told.runs == runs
            assert runs % 2 == 0, "a pair is there whole or not at all"
            assert runs // 2 - 1 <= len(copy.plans()) <= runs // 2


@pytest.mark.parametrize(
    ("name", "says"),
    [("nothing", "no such file"), ("folder", "no such file"), ("text", "no whole ZIP"),
     ("empty", "no whole ZIP"), ("other.zip", "no backup of the advisor"),
     ("store.db", "no whole ZIP")],
)  # fmt: skip
def test_what_is_no_backup_is_refused_and_nothing_is_lost(
    filled: Store, tmp_path: Path, name: str, says: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("hello " * 100)
    (tmp_path / "empty").touch()
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("../../etc/cron.d/x", "evil")
    Store.open(f"sqlite:///{tmp_path}/store.db").close()
    before = content(filled)
    with pytest.raises(InvalidInputError, match=says) as caught:
        filled.restore(tmp_path / name, replace=True)
    assert str(tmp_path / name) in str(caught.value)
    assert caught.value.__cause__ is None
    assert content(filled) == before


CHANGES: dict[str, Callable[[dict[str, bytes]], None]] = {
    "a checksum differs": lambda files: files.update({
        "profiles.jsonl": files["profiles.jsonl"].replace(b"net-1", b"net-2", 1)}),
    "a row is missing": lambda files: files.update({
        "profiles.jsonl": files["profiles.jsonl"].partition(b"\n")[2]}),
    "a table is missing": lambda files: files.pop("edits.jsonl"),
    "a file too many": lambda files: files.update({"../x": b"evil"}),
    "no manifest": lambda files: files.update({
        "manifest.json": b'{"kind": "advisor backup"}'}),
    "no JSON": lambda files: files.update({"plans.jsonl": b"{" * 100_000}),
    "deep JSON": lambda files: files.update({"plans.jsonl": b"[" * 100_000}),
    "another kind of row": forged("provenance", colour="red"),
    "a field is missing": forged("provenance", notes=...),
    "a run measured otherwise": forged("profiles", step_time_s=0.001),
    "a negative time": forged("profiles", step_time_s=-1.0),
    "a number that is none": forged("profiles", step_time_s=True),
    "a time without end": forged("profiles", step_time_s=float("inf")),
    "a state of no kind": forged("profiles", state="famous"),
    "a source that is not there": forged("profiles", provenance_id=10**6),
    "an id too large": forged("profiles", id=2**40),
    "another source": forged("provenance", source="someone else"),
    "a workload changed": forged("workloads", content="{}"),
    "a plan of no workload": forged("plans", workload_hash="0" * 64),
    "a plan without a name": forged("plans", name=""),
    "a name that cannot be shown": forged("plans", name="a\x1b[31m"),
    "text that cannot be stored": forged("plans", job="a\0b"),
    "inputs that are none": forged("plans", inputs="[1]"),
    "inputs that are no JSON": forged("plans", inputs="{"),
    "a price below zero": forged("plans", usd_per_h=-1),
    "an estimate that is none": forged("plans", hours="{}"),
    "a moment without a zone": forged("plans", created_at="2026-01-02T03:04:05"),
    "a day that is none": forged("catalog_snapshots", as_of="2026-13-02"),
    "bytes that are none": forged("catalog_snapshots", content="?"),
    "a hash too long": forged("catalog_snapshots", hash="x" * 129),
    "an edit of no kind": forged("edits", action="explode"),
    "a finished run of nothing": forged("finished_runs", hours=None, cost_usd=None,
                                       profile_hash=None),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_backup_that_was_changed_is_refused_and_nothing_is_lost(
    tmp_path: Path, backup: Path, change: str
) -> None:
    path = rewritten(backup, CHANGES[change])
    with Store.open(f"sqlite:///{tmp_path}/b.db") as store:
        store.add([run(1000)])
        before = content(store)
        with pytest.raises(InvalidInputError, match=r"damaged or was changed") as caught:
            store.restore(path, replace=True)
        assert str(path) in str(caught.value)
        assert "the store is as it was" in str(caught.value)
        assert len(str(caught.value)) < 500
        assert content(store) == before
        assert store.add([run(1001)]).added == 1


def test_a_backup_of_another_version_is_refused(tmp_path: Path, backup: Path) -> None:
    def change(files: dict[str, bytes]) -> None:
        manifest = json.loads(files["manifest.json"]) | {"schema_revision": "9999"}
        files["manifest.json"] = json.dumps(manifest | {"advisor_version": "7.0"}).encode()

    rewritten(backup, change)
    with Store.open(f"sqlite:///{tmp_path}/b.db") as store:
        with pytest.raises(InvalidInputError, match=r"made by version '7\.0'"):
            store.restore(backup)
        assert store.count() == 0


def test_a_backup_that_unpacks_without_end_is_refused_unread(
    tmp_path: Path, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.store.backup_limits._MOST_BYTES_LARGE", 10_000)
    with (
        Store.open(f"sqlite:///{tmp_path}/b.db") as store,
        pytest.raises(InvalidInputError, match="larger than in any backup"),
    ):
        store.restore(backup)


def test_a_line_without_end_is_refused(
    tmp_path: Path, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.store.backup_limits._LONGEST_LINE", 500)
    with (
        Store.open(f"sqlite:///{tmp_path}/b.db") as store,
        pytest.raises(InvalidInputError, match=r"row is longer than any|larger than"),
    ):
        store.restore(backup)


def test_a_snapshot_that_unpacks_without_end_is_refused(
    tmp_path: Path, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.store.snapshots._MOST_BYTES", 100)
    with Store.open(f"sqlite:///{tmp_path}/b.db") as store:
        store.restore(backup)
        with pytest.raises(Exception, match="damaged"):
            store.snapshot("abc")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.floats(0, 1), byte=st.integers(1, 255), cut=st.booleans())
def test_any_damage_is_refused_and_nothing_is_lost(
    tmp_path: Path, backup: Path, where: float, byte: int, cut: bool
) -> None:
    whole = backup.read_bytes()
    place = min(int(where * len(whole)), len(whole) - 1)
    damaged = bytearray(whole[:place] if cut else whole)
    if not cut:
        damaged[place] ^= byte
    path = tmp_path / "damaged.backup"
    path.write_bytes(damaged)
    with Store.open(f"sqlite:///{tmp_path}/fuzz.db") as store:
        store.replace_seed([run(1000)], "before")
        try:
            store.restore(path, replace=True)
        except InvalidInputError:
            assert store.profiles()["step_time_s"].tolist() == [1000.1]
        else:  # the bytes of a ZIP that mean nothing, such as dates
            with Store.open(f"sqlite:///{tmp_path}/origin.db") as origin:
                assert store.data_hash() == origin.data_hash()
            store.restore(path, replace=True)
            with closing(sqlite3.connect(tmp_path / "fuzz.db")) as raw:
                for table in ("edits", "finished_runs", "plans", "profiles"):
                    raw.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours
                raw.commit()


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
