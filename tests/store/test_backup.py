"""Backups: one moment of the store, in one file, back into any kind of database."""

from __future__ import annotations

import json
import multiprocessing
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest
from backup_examples import content, rewritten

from advisor.core.errors import InvalidInputError
from advisor.store import Store
from advisor.testing.store_plans import WORKLOAD, plan
from advisor.testing.store_runs import run


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


def test_a_backup_of_another_version_is_refused(tmp_path: Path, backup: Path) -> None:
    def change(files: dict[str, bytes]) -> None:
        manifest = json.loads(files["manifest.json"]) | {"schema_revision": "9999"}
        files["manifest.json"] = json.dumps(manifest | {"advisor_version": "7.0"}).encode()

    rewritten(backup, change)
    with Store.open(f"sqlite:///{tmp_path}/b.db") as store:
        with pytest.raises(InvalidInputError, match=r"made by version '7\.0'"):
            store.restore(backup)
        assert store.count() == 0
