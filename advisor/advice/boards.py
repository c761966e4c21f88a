"""Measured accuracy as the benchmark stored it: boards, their figures, held-out predictions.

``python -m benchmarks.accuracy --store`` writes the files of ``data/accuracy/``; nothing in them is
typed by hand.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Self

import pandas as pd
from pydantic import AwareDatetime, Field, ValidationError

from advisor import __version__
from advisor.core.errors import StoreError
from advisor.core.paths import TABLES_DIR
from advisor.domain.base import Noun
from advisor.predictor.hardware import facts_hash
from advisor.predictor.predictor import code_hash

if TYPE_CHECKING:
    from advisor.catalog import Catalog

ACCURACY_DIR: Final = TABLES_DIR / "accuracy"
POINT_COLUMNS: Final = (
    "source", "model", "family", "accelerator", "accelerators", "group",
    "measured_s", "predicted_s", "low_s", "high_s",
)  # fmt: skip
_FILE: Final = "boards.json"
_TODO: Final = "Write it again with python -m benchmarks.accuracy --store."


class Stamp(Noun):
    """What a measurement was made with; it holds as long as all of it is today's."""

    version: str
    data_hash: str
    code_hash: str

    @classmethod
    def today(cls, catalog: Catalog) -> Self:
        """Return the stamp of this program, its shipped runs and its accelerators' facts."""
        runs = (TABLES_DIR / "profiles" / "runs.csv").read_bytes()
        data = hashlib.sha256(runs + facts_hash(catalog).encode()).hexdigest()
        return cls(
            version=__version__, data_hash=data[:16], code_hash=code_hash(of_cache=False)[:16]
        )


class Figure(Noun):
    """One figure of a board; ``bar`` is what it should keep, None where there is no bar."""

    name: str
    value: float
    unit: str
    bar: str | None = None
    holds: bool = True


class Board(Noun):
    """One board: what is held out, of which runs, what came of it, when and with what."""

    name: str
    title: str
    held_out: str
    runs_of: str
    measured_at: AwareDatetime
    stamp: Stamp
    figures: Annotated[tuple[Figure, ...], Field(min_length=1)]
    points: bool

    def figure(self, name: str) -> Figure | None:
        """Return the figure of this name, None where the board has none."""
        return next((figure for figure in self.figures if figure.name == name), None)


class Boards(Noun):
    """All stored boards."""

    boards: tuple[Board, ...] = ()

    def with_board(self, board: Board) -> Boards:
        """Return these boards with one replaced, or added at the end."""
        known = {one.name: one for one in self.boards} | {board.name: board}
        return Boards(boards=tuple(known.values()))

    def outdated(self, today: Stamp) -> bool:
        """Return whether any board was measured with other code or data than today's."""
        return any(board.stamp != today for board in self.boards)


def read_boards(directory: Path | None = None) -> Boards:
    """Return the stored boards, none where the benchmark has never stored any.

    Raises
    ------
    StoreError
        If the file is damaged.
    """
    path = (directory or ACCURACY_DIR) / _FILE
    if not path.exists():
        return Boards()
    try:
        return Boards.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, ValidationError) as error:
        raise StoreError("the stored boards cannot be read.", where=_FILE, todo=_TODO) from error


def read_points(board: Board, directory: Path | None = None) -> pd.DataFrame:
    """Return every held-out prediction of a board.

    Returns
    -------
    DataFrame
        Columns `POINT_COLUMNS`, times [s] with the bounds of the 90 % interval; empty where the
        board's runs are not part of the project.

    Raises
    ------
    StoreError
        If the file is missing or damaged.
    """
    if not board.points:
        return pd.DataFrame(columns=list(POINT_COLUMNS))
    path = (directory or ACCURACY_DIR) / f"{board.name}.csv"
    try:
        return pd.read_csv(path, usecols=list(POINT_COLUMNS))[list(POINT_COLUMNS)]
    except (OSError, ValueError) as error:
        raise StoreError("the board cannot be read.", where=path.name, todo=_TODO) from error


def write_board(board: Board, points: pd.DataFrame | None, directory: Path | None = None) -> None:
    """Store a board beside the others; its predictions to four digits."""
    directory = directory or ACCURACY_DIR
    directory.mkdir(parents=True, exist_ok=True)
    if points is not None:
        rows = points[list(POINT_COLUMNS)]
        rows.to_csv(directory / f"{board.name}.csv", index=False, float_format="%.4g")
    boards = read_boards(directory).with_board(board)
    text = boards.model_dump_json(indent=1) + "\n"
    (directory / _FILE).write_text(text, encoding="utf-8")
