"""The search: a coarse programme over all replicas and stages, then exact cuts and places."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final

from advisor.core.errors import NoFeasiblePlanError
from advisor.strategies.sailor.coarse import Coarse, Entry, estimates, programme, singles
from advisor.strategies.sailor.exact import Candidate, Found, Mark, better, exact
from advisor.strategies.sailor.options import Kind, Options, options_of
from advisor.strategies.sailor.refine import refined
from advisor.strategies.sailor.zones import structures

if TYPE_CHECKING:
    from advisor.strategies.sailor.space import Space

# Candidates of the coarse programme that get exact cuts and places, and plans that are refined.
EXACT: Final = 60
EXACT_OF_ONE_POOL: Final = 24
REFINED: Final = 3


def search(space: Space) -> Found:
    """Return the best plan found.

    Raises
    ------
    NoFeasiblePlanError
        If none fits into memory and within the limits of the goal.
    """
    entries: list[tuple[Entry, Coarse]] = []
    tables: dict[tuple[Kind, ...], dict[int, Options]] = {}
    for structure in structures(space):
        sizes = {size: options_of(space, structure.kinds, size)
                 for size in space.costs.micro_batches}  # fmt: skip
        known = {size: options for size, options in sizes.items() if options is not None}
        tables |= {choice.kinds: known for choice in structure.choices}
        for options in known.values():
            table = programme(space, structure, options)
            entries += [
                (entry, table)
                for choice in structure.choices
                for ways in (singles, estimates)
                for entry in ways(space, choice, table)
            ]
    best: Found | None = None
    seen: set[Mark] = set()
    most = EXACT if len(space.pools) > 1 else EXACT_OF_ONE_POOL
    found = _exact(space, heapq.nsmallest(most, entries, key=lambda pair: pair[0].key), seen)
    for start in found[:REFINED]:
        best = better(best, refined(space, start, tables, seen))
    if best is None:
        raise NoFeasiblePlanError(
            "no plan fits into the memory of these accelerators and within the limits.",
            todo="Add accelerators, allow more time or money, or take a smaller batch.",
        )
    return best


def _exact(space: Space, entries: list[tuple[Entry, Coarse]], seen: set[Mark]) -> list[Found]:
    """Return the plans of the entries, the best first, of each number of stages the best one."""
    best: Found | None = None
    found: dict[tuple[object, ...], Found] = {}
    for entry, table in entries:
        if best is not None and entry.least >= best.key[0]:
            continue
        candidate = Candidate(entry.choice, table.options, table.sequence(entry), entry.data)
        if candidate.mark in seen:
            continue
        seen.add(candidate.mark)
        made = exact(space, candidate, best)
        if made is not None:
            best = better(best, made)
            group = (made.plan.stages, made.plan.micro_batch)
            found[group] = better(found.get(group), made) or made
    return sorted(found.values(), key=lambda one: one.key)
