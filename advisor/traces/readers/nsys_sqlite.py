"""Nsight Systems reports exported as SQLite.

The file is not trusted: it is opened read-only and immutable, only plain tables are read (a view
could hold anything), and every query has a limit of work.
"""

from __future__ import annotations

import re
import sqlite3
import statistics
from collections import defaultdict
from contextlib import closing
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.traces.device_time import COPY, KERNEL, DeviceWork, shares
from advisor.traces.draft import Draft
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_MAGIC: Final = b"SQLite format 3\x00"
_KERNELS: Final = "CUPTI_ACTIVITY_KIND_KERNEL"
_COPIES: Final = ("CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET")
_NAME_COLUMNS: Final = ("shortName", "demangledName", "mangledName", "name")
_STEP: Final = re.compile(
    r"^\W*(?:train(?:ing)?[ _.-]*)?(?:profilerstep|step|iter(?:ation)?|batch)[ _#:.-]*\d*\W*$",
    re.IGNORECASE,
)
_FEWEST_STEPS: Final = 3
_PROGRESS_EVERY: Final = 1_000_000
_MOST_PROGRESS: Final = 5000  # about a minute of work in one file
_NS: Final = 1e-9
_ROWS: Final = 50_000


@READERS.register("nsys_sqlite")
class NsysSqliteReader:
    """Use of the devices and communication; steps only where NVTX ranges mark them."""

    label: ClassVar[str] = "Nsight Systems SQLite export"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 1

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See an SQLite file; whose tables it has is known only when it is open."""
        return head.startswith(_MAGIC)

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the activity of all devices."""
        with source.as_file() as path:
            try:
                with closing(_open(path)) as database:
                    return _read(_Database(database, source), source)
            # What sqlite3 says of a damaged schema quotes it, and need not be text.
            except (sqlite3.Error, UnicodeDecodeError) as error:
                raise TraceError(
                    f"the database cannot be read ({error}).",
                    where=source.name,
                    todo="Export it again: nsys export --type sqlite report.nsys-rep.",
                ) from None


def _open(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    database.execute("PRAGMA query_only = ON")
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    database.text_factory = lambda data: data.decode(errors="replace")
    work = iter(range(_MOST_PROGRESS))
    database.set_progress_handler(lambda: int(next(work, None) is None), _PROGRESS_EVERY)
    return database


class _Database:
    """Plain tables and their columns; names differ by version."""

    def __init__(self, database: sqlite3.Connection, source: Source) -> None:
        self._database = database
        self._source = source
        listed = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        self.tables = {
            str(name) for name, sql in listed if not str(sql).upper().startswith("CREATE VIRTUAL")
        }

    def columns(self, table: str) -> list[str]:
        if table not in self.tables:
            return []
        described = self._database.execute("SELECT name FROM pragma_table_info(?)", (table,))
        return [str(row[0]) for row in described]

    def rows(self, table: str, wanted: Sequence[str]) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the wanted columns in batches, NULL where the version has no such column."""
        have = set(self.columns(table))
        listed = ", ".join(f'"{name}"' if name in have else "NULL" for name in wanted)
        quoted = table.replace('"', '""')
        # Table and columns are from fixed lists here; only a version suffix is the file's.
        cursor = self._database.execute(f'SELECT {listed} FROM "{quoted}"')  # noqa: S608
        while batch := cursor.fetchmany(_ROWS):
            self._source.pulse()
            yield batch

    def named(self, prefix: str) -> str | None:
        """Return the table of this name, with a suffix of its version if need be."""
        pattern = re.compile(rf"{prefix}(?:_V\d+)?")
        return next((name for name in sorted(self.tables) if pattern.fullmatch(name)), None)


def _read(database: _Database, source: Source) -> Trace:
    kernels = database.named(_KERNELS)
    if "StringIds" not in database.tables and kernels is None:
        raise TraceError(
            "an SQLite file, but not of Nsight Systems.",
            where=source.name,
            todo="Export the report: nsys export --type sqlite report.nsys-rep.",
        )
    draft = Draft(format="nsys_sqlite")
    names = _strings(database)
    work = DeviceWork(source.limits.names)
    if kernels is not None:
        _add(work, database, kernels, KERNEL, names)
    for table in _COPIES:
        if (found := database.named(table)) is not None:
            _add(work, database, found, COPY, names)
    used = shares(work, None) if len(work) else None
    if used is None:
        draft.warn("No work of a GPU was recorded; trace with --trace=cuda,nvtx.")
    else:
        used.describe(draft, work)
        draft.gpus = len(work.devices)
    _set_device(draft, database)
    _set_steps(draft, database, names)
    return draft.finish()


def _strings(database: _Database) -> dict[int, str]:
    if "StringIds" not in database.tables:
        return {}
    batches = database.rows("StringIds", ("id", "value"))
    return {row[0]: str(row[1]) for batch in batches for row in batch if row[0] is not None}


def _add(
    work: DeviceWork, database: _Database, table: str, kind: int, names: dict[int, str]
) -> None:
    have = database.columns(table)
    name = next((column for column in _NAME_COLUMNS if column in have), "name")
    label = "Memory operation" if kind == COPY else "(no name)"
    for batch in database.rows(table, ("start", "end", "deviceId", "streamId", name)):
        good = [
            row
            for row in batch
            if isinstance(row[0], int) and isinstance(row[1], int) and row[1] >= row[0]
        ]
        work.extend(
            start=[row[0] * _NS for row in good],
            end=[row[1] * _NS for row in good],
            device=[row[2] for row in good],
            stream=[row[3] for row in good],
            names=[names.get(row[4], str(row[4] or label)) for row in good],
            kind=[kind] * len(good),
        )


def _set_device(draft: Draft, database: _Database) -> None:
    # The name of 2020 is the second.
    table = database.named("TARGET_INFO_GPU") or database.named("TARGET_INFO_CUDA_GPU")
    rows = (
        [row for batch in database.rows(table, ("name", "totalMemory")) for row in batch]
        if (table is not None)
        else []
    )
    if not rows:
        draft.warn("The export does not name the GPU (it has no row of TARGET_INFO_GPU).")
        return
    draft.gpu_name, draft.gpus_on_host = str(rows[0][0]), len(rows)
    memory = rows[0][1]
    draft.gpu_memory_bytes = float(memory) if isinstance(memory, int) and memory > 0 else None


def _set_steps(draft: Draft, database: _Database, names: dict[int, str]) -> None:
    """Take NVTX ranges that are called after steps as the steps."""
    table = database.named("NVTX_EVENTS")
    ranges: dict[tuple[str, object], set[int]] = defaultdict(set)
    if table is not None:
        for batch in database.rows(table, ("start", "end", "text", "textId", "globalTid")):
            for start, end, text, text_id, thread in batch:
                label = text if isinstance(text, str) else names.get(text_id, "")
                if isinstance(start, int) and isinstance(end, int) and _STEP.match(label):
                    ranges[re.sub(r"\d+", "", label), thread].add(start)
    groups = sorted(ranges.values(), key=len)
    starts = sorted(groups[-1]) if groups else []
    if len(starts) < _FEWEST_STEPS:
        draft.warn(
            "No NVTX ranges mark the steps, so the step time is not available; wrap each step in "
            'torch.cuda.nvtx.range_push("step 1").'
        )
        return
    gaps = [(b - a) * _NS for a, b in pairwise(starts)]
    draft.step_time_s, draft.steps = statistics.median(gaps), len(gaps)
    draft.warn("The step time is the time between the starts of NVTX ranges called after steps.")
