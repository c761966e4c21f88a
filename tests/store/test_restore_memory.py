"""A restore needs little memory, whatever a stranger packed into the backup."""

from __future__ import annotations

import datetime as dt
import json
import secrets
import subprocess
import sys
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from advisor.core.errors import InvalidInputError
from advisor.store import Store
from advisor.testing.store_plans import WORKLOAD, plan
from advisor.testing.store_runs import run

MIB = 2**20
RESTORE = """
import sys
from pathlib import Path
from advisor.core.errors import InvalidInputError
from advisor.store import Store

def peak():
    # What getrusage tells includes the peak of the process that started this one.
    (line,) = (s for s in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in s)
    return int(line.split()[1]) // 1024

small, given, directory = sys.argv[1:]
with Store.open(f"sqlite:///{directory}/child.db") as store:
    store.restore(Path(small), replace=True)
    before = peak()
    try:
        store.restore(Path(given), replace=True)
        print("restored", peak() - before)
    except InvalidInputError as error:
        print("refused", peak() - before, error)
"""


def small_backup(directory: Path) -> Path:
    with Store.open(f"sqlite:///{directory}/origin.db") as store:
        store.add([run(1)])
        store.save_plan(plan(), WORKLOAD)
        store.add_snapshot("abc", b"price", as_of=dt.date(2026, 1, 2), rows=1)
        store.backup(directory / "small.backup")
    return directory / "small.backup"


def one_long_line(row: bytes) -> bytes:
    return row.replace(b'"job": ""', b'"job": "' + b"a" * 94 * MIB + b'"')


def many_lines(row: bytes) -> bytes:
    given = json.loads(row)
    lines = []
    for number in range(100):
        model = run(number, model=secrets.token_hex(MIB // 2))
        given |= {"id": number, "model": model.model, "step_time_s": model.step_time_s}
        lines.append(json.dumps(given | {"content_hash": model.content_hash}).encode() + b"\n")
    return b"".join(lines)


def many_values(row: bytes) -> bytes:
    return row.replace(b'"rows": 1', b'"rows": [' + b"{}," * (8 * MIB) + b"{}]")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells the peak")
@pytest.mark.parametrize(
    ("table", "change", "method", "says"),
    [
        ("plans", one_long_line, zipfile.ZIP_DEFLATED, "refused"),
        ("plans", one_long_line, zipfile.ZIP_STORED, "refused"),
        ("catalog_snapshots", one_long_line, zipfile.ZIP_STORED, "refused"),
        ("catalog_snapshots", many_values, zipfile.ZIP_STORED, "refused"),
        ("profiles", many_lines, zipfile.ZIP_STORED, "restored"),
    ],
)
def test_a_restore_stays_small_whatever_it_reads(
    tmp_path: Path, table: str, change: Callable[[bytes], bytes], method: int, says: str
) -> None:
    small = small_backup(tmp_path)
    with zipfile.ZipFile(small) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    row = files[f"{table}.jsonl"]
    if change is one_long_line and table != "plans":
        row = row.replace(b'"hash": "abc"', b'"hash": "abc", "job": ""')
    files[f"{table}.jsonl"] = changed = change(row)
    assert len(changed) > 20 * MIB
    manifest = json.loads(files["manifest.json"])
    manifest["tables"][table] = {
        "rows": changed.count(b"\n"), "sha256": sha256(changed).hexdigest(),
    }  # fmt: skip
    files["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(tmp_path / "large.backup", "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    command = [sys.executable, "-c", RESTORE, small, tmp_path / "large.backup", tmp_path]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    word, grown_mib = told.split()[:2]
    assert word == says, told[:500]
    assert int(grown_mib) < 90


def test_text_that_no_backup_could_hold_is_not_stored(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        with pytest.raises(InvalidInputError, match=r"measured run, model: .*longer than 80,000"):
            store.add([run(1, model="a" * 80_001)])
        with pytest.raises(InvalidInputError, match=r"saved plan, job: .*longer than 80,000"):
            store.save_plan(plan(), WORKLOAD, job="a" * 80_001)
        assert store.count() == 0
        store.add([run(1, model="\N{GRINNING FACE}" * 79_000)])
        store.backup(tmp_path / "a.backup")
        store.restore(tmp_path / "a.backup", replace=True)
        assert store.count() == 1


def test_a_backup_that_could_not_be_restored_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = small_backup(tmp_path)
    before = path.read_bytes()
    with Store.open(f"sqlite:///{tmp_path}/origin.db") as store:
        for limit in ("_LONGEST_LINE", "_MOST_BYTES_LARGE"):
            with monkeypatch.context() as patched:
                patched.setattr(f"advisor.store.backup_limits.{limit}", 500)
                with pytest.raises(InvalidInputError, match=r"too large .*nothing was written"):
                    store.backup(path)
    assert path.read_bytes() == before
