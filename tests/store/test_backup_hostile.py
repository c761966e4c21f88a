"""Backups of strangers, damaged or forged: refused, and nothing is lost."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from backup_examples import content, forged, rewritten
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.core.errors import InvalidInputError
from advisor.store import Store
from advisor.testing.store_runs import run


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
