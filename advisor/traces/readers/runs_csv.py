"""A plain table of runs, one row each; ``docs/traces/runs_csv.md`` explains its header."""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError, nearest_names
from advisor.traces.draft import HIGHEST, Draft
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

TEXTS: Final = frozenset(
    {"model", "gpu_name", "precision", "framework", "layout", "instance_type", "throughput_unit"}
)
WHOLE: Final = frozenset({"gpus", "nodes", "steps", "sequence_length"})
SHARES: Final = frozenset({"gpu_busy_share", "comm_share", "comm_exposed_share"})
NUMBERS: Final = frozenset(
    {"step_time_s", "global_batch", "micro_batch", "throughput", "peak_memory_bytes", "params"}
    | {"usd_per_h"}
)
COLUMNS: Final = TEXTS | WHOLE | SHARES | NUMBERS
_OTHER_NAMES: Final = {
    "accelerator": "gpu_name",
    "accelerators": "gpus",
    "parallelism": "layout",
    "sample_size": "sequence_length",
}
_ENOUGH: Final = 3
_MOST_ROWS: Final = 100_000


@READERS.register("runs_csv")
class RunsCsvReader:
    """Every cell is checked; an error names the row and the column."""

    label: ClassVar[str] = "CSV table of runs"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 30

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See a header with at least some of the columns."""
        first = head.split(b"\n", 1)[0].decode("utf-8-sig", errors="replace")
        names = {_name(cell) for cell in first.split(_delimiter(first))}
        return "step_time_s" in names or len(names & COLUMNS) >= _ENOUGH

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the first run; `read_all` gives all of them."""
        first, *others = RunsCsvReader.read_all(source)
        if not others:
            return first
        text = f"The table holds {len(others) + 1:,} runs; this is the first of them."
        return first.model_copy(update={"warnings": (*first.warnings, text)})

    @staticmethod
    def read_all(source: Source) -> tuple[Trace, ...]:
        """Read all runs."""
        runs = tuple(draft.finish() for draft in _drafts(source))
        if not runs:
            raise TraceError(
                "the table has a header and no rows.", where=source.name, todo="Add a row per run."
            )
        return runs


def _drafts(source: Source) -> Iterator[Draft]:
    lines = source.lines()
    header = next(lines)
    delimiter = _delimiter(header)
    try:
        columns = _columns(next(csv.reader([header], delimiter=delimiter), []), source)
        for number, cells in enumerate(csv.reader(lines, delimiter=delimiter), start=2):
            if not any(cell.strip() for cell in cells):
                continue
            if number > _MOST_ROWS:
                raise TraceError(
                    f"more than {_MOST_ROWS:,} rows.", where=source.name, todo="Split the table."
                )
            yield _draft(
                dict(_pairs(columns, cells, f"{source.name}, row {number}")), source, number
            )
    except csv.Error as error:
        raise TraceError(
            f"not readable as a table ({error}).", where=source.name, todo="Save it as CSV."
        ) from None


def _columns(names: list[str], source: Source) -> list[str]:
    columns = [_name(name) for name in names]
    for number, (column, written) in enumerate(zip(columns, names, strict=True), start=1):
        where = f"{source.name}, row 1, column {number}"
        if column not in COLUMNS:
            nearest = nearest_names(column, COLUMNS)
            offer = f"Did you mean {' or '.join(nearest)}?" if nearest else ""
            known = f"Columns are: {', '.join(sorted(COLUMNS))}."
            raise TraceError(f"unknown column “{written}”.", where=where, todo=offer or known)
        if column in columns[: number - 1]:
            raise TraceError(
                f"column “{column}” is there twice.", where=where, todo="Leave one out."
            )
    return columns


def _pairs(columns: list[str], cells: list[str], where: str) -> Iterator[tuple[str, str]]:
    if len(cells) != len(columns):
        raise TraceError(
            f"{len(cells)} cells under {len(columns)} columns.",
            where=where,
            todo="Leave a cell empty where nothing is known; quote texts that hold the separator.",
        )
    return ((c, cell.strip()) for c, cell in zip(columns, cells, strict=True) if cell.strip())


def _draft(row: dict[str, str], source: Source, number: int) -> Draft:
    draft = Draft(format="runs_csv")
    for column, text in row.items():
        where = f"{source.name}, row {number}, column {column}"
        value = text if column in TEXTS else _checked(column, text, where)
        setattr(draft, column, value)
    if draft.step_time_s is None:
        if not (draft.throughput and draft.global_batch):
            raise TraceError(
                "neither a step time nor throughput and global batch.",
                where=f"{source.name}, row {number}",
                todo="Fill in step_time_s.",
            )
        draft.step_time_s = draft.global_batch / draft.throughput
    return draft


def _checked(column: str, text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise TraceError(
            f"“{text}” is not a number.",
            where=where,
            todo="Write digits with a decimal point, or leave the cell empty if it is not known.",
        )
    most = 1.0 if column in SHARES else HIGHEST[column]
    least_ok = value >= 0 if column in SHARES or column == "gpus" else value > 0
    if not least_ok or value > most or (column in WHOLE and value != int(value)):
        kind = "a share from 0 to 1" if column in SHARES else f"above 0 and at most {most:g}"
        whole = ", and whole" if column in WHOLE else ""
        raise TraceError(
            f"{text} is not possible.", where=where, todo=f"The column is to be {kind}{whole}."
        )
    return value


def _name(cell: str) -> str:
    name = cell.strip().strip('"').strip().lower()
    return _OTHER_NAMES.get(name, name)


def _delimiter(header: str) -> str:
    return max(",;\t", key=header.count)
