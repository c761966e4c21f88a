"""Files of the user as measured runs: traces, logs, folders of one job, tables of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from advisor.advice.trace_runs import run_of_trace
from advisor.traces import read_all

if TYPE_CHECKING:
    from advisor.advice.trace_runs import RunFacts
    from advisor.catalog import Catalog
    from advisor.domain import Profile
    from advisor.traces.reading import File


def runs_of_file(
    file: File, facts: RunFacts, catalog: Catalog, *, name: str = ""
) -> tuple[Profile, ...]:
    """Return the measured runs of a file: one of a trace, a log or a folder, several of a table.

    Parameters
    ----------
    file : path, bytes or open binary file
        What to read; its format is told by its content.
    facts : RunFacts
        Fills what the file does not say.
    catalog : Catalog
        Knows the accelerators.
    name : str
        Name of the file for messages, where `file` has none.

    Raises
    ------
    InvalidInputError
        If the file cannot be read, or does not say enough to calibrate by.
    """
    shown = name or (Path(file).name if isinstance(file, str | Path) else "")
    traces = read_all(file, name)
    places = [shown] if len(traces) == 1 else [f"{shown}, run {i + 1}" for i in range(len(traces))]
    return tuple(
        run_of_trace(trace, facts, catalog, where=place)
        for trace, place in zip(traces, places, strict=True)
    )
