"""Answers on the disk: one file each while the sweep runs, one table when all are there."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from advisor.core.errors import InvalidInputError
from advisor.core.files import atomic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FIRST: Final = ("line", "job", "scenario", "status", "error")
ENDING: Final = ".json"


@dataclass(frozen=True, slots=True)
class Parts:
    """The answers that are there already: a directory beside the table that they will be.

    A part takes its place whole or not at all and is named by its question, so that a sweep that
    was stopped goes on where it was, and nothing is in the table twice.
    """

    output: Path

    @property
    def folder(self) -> Path:
        """Where the parts lie."""
        return self.output.with_name(f"{self.output.name}.parts")

    def open(self) -> set[str]:
        """Make the directory, and return the names of the answers in it.

        Raises
        ------
        InvalidInputError
            If it cannot be made.
        """
        try:
            self.folder.mkdir(exist_ok=True)
            return {path.name.removesuffix(ENDING) for path in self.folder.glob(f"*{ENDING}")}
        except OSError as error:
            raise _unwritable(self.folder, error) from None

    def write(self, key: str, rows: Sequence[dict[str, Any]]) -> None:
        """Keep an answer."""
        try:
            with atomic(self.folder / f"{key}{ENDING}") as file:
                file.write(json.dumps(rows, default=str).encode())
        except OSError as error:
            raise _unwritable(self.folder, error) from None

    def read(self, key: str) -> list[dict[str, Any]]:
        """Return an answer."""
        rows: list[dict[str, Any]] = json.loads((self.folder / f"{key}{ENDING}").read_bytes())
        return rows

    def finish(self, frame: pd.DataFrame) -> None:
        """Write the table and remove the parts."""
        content = io.BytesIO()
        frame.to_parquet(content, index=False)
        try:
            with atomic(self.output) as file:
                file.write(content.getvalue())
        except OSError as error:
            raise _unwritable(self.output, error) from None
        shutil.rmtree(self.folder, ignore_errors=True)


def frame_of(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return the rows as a table in the order of the lines; what a row has not is missing."""
    frame = pd.DataFrame(list(rows)).sort_values("line", kind="stable", ignore_index=True)
    first = [name for name in FIRST if name in frame.columns]
    frame = frame[[*first, *(name for name in frame.columns if name not in first)]]
    if "price_as_of" in frame.columns:
        frame["price_as_of"] = pd.to_datetime(frame["price_as_of"]).astype("datetime64[s]")
    return frame


def _unwritable(path: Path, error: OSError) -> InvalidInputError:
    return InvalidInputError(
        f"this cannot be written ({error.strerror}).", where=str(path), todo="Give another path."
    )
