"""Stores with something of everything, and backups that were changed."""

from __future__ import annotations

import datetime as dt
import json
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from advisor.store import Store
from advisor.testing.store_plans import INPUTS, WORKLOAD, measured, plan
from advisor.testing.store_runs import SOURCE, full_run, run


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
