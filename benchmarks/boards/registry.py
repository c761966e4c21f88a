"""The boards by name: a module of this package registers what it scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from advisor.core.registry import Registry

if TYPE_CHECKING:
    import pandas as pd

    from benchmarks.boards.context import Context
    from benchmarks.boards.scoring import Scored

# A board scores its own rows; with rows of the user's, trained on its own and the store.
Board: TypeAlias = "Callable[[Context], Iterator[Scored]]"
RowsBoard: TypeAlias = "Callable[[Context, pd.DataFrame], Iterator[Scored]]"
BOARDS: Final[Registry[Board]] = Registry("board", "benchmarks.boards")
ROWS_BOARDS: Final[Registry[RowsBoard]] = Registry("board for rows", "benchmarks.boards")
