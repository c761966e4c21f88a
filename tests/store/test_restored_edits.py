"""Edits of a backup are checked for their meaning: what the program never writes is refused."""

from __future__ import annotations

import json
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from advisor.core.errors import InvalidInputError
from advisor.store import Store
from advisor.testing.store_plans import WORKLOAD, measured, plan
from advisor.testing.store_runs import run

EDITS = {
    "mark_outlier": lambda store: store.mark_outlier(run(1).content_hash),
    "delete_profile": lambda store: store.delete_profile(run(1).content_hash),
    "correct": lambda store: store.correct_profile(run(1).content_hash, {"step_time_s": 7.0}),
    "rename_plan": lambda store: store.rename_plan(store.plans()[0].id, "anew"),
    "delete_plan": lambda store: store.delete_plan(store.plans()[0].id),
    "finish_plan": lambda store: store.finish_plan(store.plans()[0].id, profile=measured()),
}


def backed_up(path: Path, *edits: str) -> Path:
    """Back up a store in which these edits were made."""
    with Store.open(f"sqlite:///{path}/origin.db") as store:
        store.add([run(1), run(2)])
        store.save_plan(plan(), WORKLOAD, name="first")
        for edit in edits:
            EDITS[edit](store)
        store.backup(path / "a.backup")
    return path / "a.backup"


def forge(path: Path, **fields: Any) -> None:
    """Change fields of the last edit in a backup, and the checksum with them."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    *rest, last = files["edits.jsonl"].splitlines(keepends=True)
    changed = json.dumps(json.loads(last) | fields).encode() + b"\n"
    files["edits.jsonl"] = b"".join([*rest, changed])
    manifest = json.loads(files["manifest.json"])
    manifest["tables"]["edits"]["sha256"] = sha256(files["edits.jsonl"]).hexdigest()
    files["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(
    ("edit", "fields"),
    [
        ("mark_outlier", {"before": "vanished_x"}),
        ("mark_outlier", {"before": "outlier"}),
        ("mark_outlier", {"after": "deleted"}),
        ("mark_outlier", {"action": "unmark_outlier"}),
        ("mark_outlier", {"action": "rename_plan"}),
        ("mark_outlier", {"action": "finish_plan"}),
        ("mark_outlier", {"other": run(2).content_hash}),
        ("mark_outlier", {"subject": "f" * 64}),
        ("delete_profile", {"before": "superseded"}),
        ("delete_profile", {"before": ""}),
        ("correct", {"before": "deleted"}),
        ("correct", {"after": "gone"}),
        ("correct", {"other": ""}),
        ("correct", {"other": "f" * 64}),
        ("rename_plan", {"before": "a\u202eb"}),
        ("rename_plan", {"before": ""}),
        ("rename_plan", {"subject": "abc"}),
        ("delete_plan", {"after": "x"}),
        ("delete_plan", {"subject": "abc"}),
        ("finish_plan", {"subject": "abc"}),
        ("finish_plan", {"before": "abc"}),
    ],
)
def test_an_edit_that_makes_no_sense_is_refused_and_nothing_is_lost(
    tmp_path: Path, edit: str, fields: dict[str, str]
) -> None:
    backup = backed_up(tmp_path, edit)
    forge(backup, **fields)
    with Store.open(f"sqlite:///{tmp_path}/into.db") as store:
        store.add([run(9)])
        with pytest.raises(InvalidInputError, match=r"makes no sense.*the store is as it was"):
            store.restore(backup, replace=True)
        assert store.profiles()["step_time_s"].tolist() == [run(9).step_time_s]
        assert store.edits() == []


def test_every_edit_and_its_undoing_can_be_restored_and_backed_up_again(tmp_path: Path) -> None:
    backup = backed_up(tmp_path, "mark_outlier", "delete_profile", *list(EDITS)[3:5])
    with Store.open(f"sqlite:///{tmp_path}/into.db") as store:
        for _ in range(3):
            store.restore(backup, replace=True)
            store.undo()
            store.backup(backup)
        assert store.count() == 1  # the outlier stays marked
        EDITS["correct"](store)
        EDITS["finish_plan"](store)
        store.undo()
        store.backup(backup)
        store.restore(backup, replace=True)
        assert [edit.action for edit in store.edits() if edit.undone_at is None] == [
            "correct", "mark_outlier",
        ]  # fmt: skip
