"""Sailor's published scenarios: time of the search, and its plans judged by the simulator."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Final

from advisor.strategies.sailor import search
from advisor.testing.reference import reference_dir
from advisor.testing.sailor import as_json, judge
from advisor.testing.sailor_tables import Case, Tables, cases
from benchmarks import report

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNS: Final = 5
SEARCH_S: Final = 2.0
ONE_TYPE_S: Final = 0.1
# Bars that are stricter than that of all: 128 accelerators of one kind, in one zone.
QUICK: Final = ("hom_128",)
BETTER: Final = ("hom_32", "cost_floor_512")
EXACT: Final = 1e-12


def rows() -> Iterator[report.Row]:
    """Yield the rows of every scenario; none where there is no reference data."""
    reference = reference_dir()
    if reference is None:
        return
    boards = reference / "data/boards"
    tables = Tables.read(boards)
    for case in cases(boards / "sailor_search.csv"):
        yield from _rows(tables, case)


def _rows(tables: Tables, case: Case) -> Iterator[report.Row]:
    head = f"search_speed.sailor.{case.name}"
    seconds = []
    for _ in range(RUNS):
        begin = time.process_time()  # one core; what other processes take of it does not count
        space = tables.space(case.available, case.goal)
        found = search(space)
        seconds.append(time.process_time() - begin)
    said = judge(tables, as_json(space, found.plan), case.available)
    bar = ONE_TYPE_S if case.name in QUICK else SEARCH_S
    yield report.at_most(f"{head}.search", statistics.median(seconds), "s", bar)
    figure = case.figure(said.iteration_s, said.usd)
    unit = "USD/iteration" if case.goal.cheapest else "s/iteration"
    kept = said.fits and said.iteration_s <= case.goal.most_s and said.usd <= case.goal.most_usd
    if case.name in BETTER:
        row = report.below(f"{head}.plan", figure, unit, case.to_beat)
    else:
        row = report.at_most(f"{head}.plan", figure, unit, case.to_beat * (1 + EXACT))
    yield report.Row(row.name, row.value, row.unit, row.bar, bool(row.holds and kept))
    yield report.Row(f"{head}.of_best_published", case.to_beat / figure, "×")
