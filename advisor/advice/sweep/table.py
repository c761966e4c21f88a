"""Jobs and scenarios from tables: what is wrong is kept with its line, and stops nothing else."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from advisor.advice.job import AMOUNTS
from advisor.core.errors import InvalidInputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator

JOB_COLUMNS: Final = (
    "name", "job", "model", *AMOUNTS, "dataset_samples", "sample_size", "global_batch",
    "precision", "finetune", "lora_rank",
)  # fmt: skip
LIMIT_COLUMNS: Final = (
    "deadline_h", "budget_usd", "chance", "clouds", "regions", "gpus", "markets", "residency",
    "max_machines", "max_accelerators", "memory_margin", "retry_allowance",
)  # fmt: skip
SCENARIO: Final = "scenario"
LARGEST_BYTES: Final = 64 * 2**20
MOST_ANSWERS: Final = 200_000

Fields = dict[str, str]


@dataclass(frozen=True, slots=True)
class Task:
    """One line of the table of jobs, with every scenario that it is asked in.

    ``line`` counts from 1, the header; a scenario is its name and the limits that it sets.
    """

    line: int
    fields: Fields
    scenarios: tuple[tuple[str, Fields], ...]

    @property
    def name(self) -> str:
        """What the line calls its job."""
        return self.fields.get("name") or self.fields.get("job") or self.fields.get("model") or ""

    def key(self, stamp: str) -> str:
        """Return a name of the answer: the same line and `stamp` have the same one."""
        content = json.dumps([self.line, self.fields, self.scenarios, stamp], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:24]


def read_tasks(jobs: Path, scenarios: Path | None = None) -> list[Task]:
    """Read a table of jobs, and one of scenarios if there is one.

    Parameters
    ----------
    jobs : path
        CSV with a header: ``job`` (one line of text as on the page), or ``model`` with an amount;
        limits may stand beside. Empty cells are not given.
    scenarios : path, optional
        CSV with ``scenario`` (a name) and limits; they come before those of the job's line.

    Raises
    ------
    InvalidInputError
        If a file cannot be read, a column is unknown, or there are too many answers to make. What
        is wrong with a line is not found here: it is an answer of its own.
    """
    asked = tuple(_scenarios(scenarios)) if scenarios else (("", {}),)
    tasks = [Task(line, fields, asked)
             for line, fields in _rows(jobs, (*JOB_COLUMNS, *LIMIT_COLUMNS))]  # fmt: skip
    if not tasks or not asked:
        empty = jobs if not tasks else scenarios
        raise InvalidInputError("the table has no rows.", where=str(empty))
    if len(tasks) * len(asked) > MOST_ANSWERS:
        raise InvalidInputError(
            f"{len(tasks):,} jobs × {len(asked):,} scenarios are more than {MOST_ANSWERS:,}.",
            where=str(jobs), todo="Split the table.",
        )  # fmt: skip
    return tasks


def _scenarios(path: Path) -> Iterator[tuple[str, Fields]]:
    seen = set()
    for line, fields in _rows(path, (SCENARIO, *LIMIT_COLUMNS)):
        name = fields.pop(SCENARIO, "")
        if not name or name in seen:
            what = "a scenario has no name." if not name else f"two scenarios are called “{name}”."
            raise InvalidInputError(what, where=f"{path}, line {line}", todo="Name each once.")
        seen.add(name)
        yield name, fields


def _rows(path: Path, known: tuple[str, ...]) -> Iterator[tuple[int, Fields]]:
    reader = csv.reader(io.StringIO(_text(path), newline=""))
    try:
        header = [cell.strip().lower().replace("-", "_").replace(" ", "_")
                  for cell in next(reader, [])]  # fmt: skip
        for name in header:
            if name not in known:
                raise UnknownNameError("column", name, known, where=f"{path}, line 1")
        if len(set(header)) < len(header):
            raise InvalidInputError("a column stands there twice.", where=f"{path}, line 1")
        for cells in reader:
            given = [cell.strip() for cell in cells]
            if any(given):
                fields = {name: cell for name, cell in zip(header, given, strict=False) if cell}
                if len(given) > len(header):
                    fields["_extra"] = str(len(given) - len(header))
                yield reader.line_num, fields
    except csv.Error as error:
        raise InvalidInputError(
            f"this is no CSV ({error}).", where=f"{path}, line {reader.line_num}"
        ) from None


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise InvalidInputError(
                f"the file is larger than {LARGEST_BYTES // 2**20} MiB.", where=str(path)
            )
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInputError(
            f"the file cannot be read ({error.strerror}).", where=str(path), todo="Give a CSV."
        ) from None
    except UnicodeDecodeError:
        raise InvalidInputError("this is not UTF-8.", where=str(path), todo="Give a CSV.") from None
