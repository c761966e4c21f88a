"""Which zone every replica sits in: a whole column in one zone as far as they go."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from advisor.strategies.sailor.columns import Column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.strategies.sailor.columns import Member
    from advisor.strategies.sailor.options import Kind
    from advisor.strategies.sailor.space import Space

Run = tuple[tuple[int, ...], int]  # (a pool for every stage of the kind, replicas)


def placed(
    space: Space, kinds: tuple[Kind, ...], stages: tuple[Member, ...], data: int
) -> list[tuple[Column, ...]]:
    """Return ways to place so many replicas of the stages; none where they do not fit.

    Parameters
    ----------
    stages : tuple of (kind, tensor degree)
        First to last.

    Returns
    -------
    list of tuple of Column
        Stages of a kind side by side in a zone, and each filling zone after zone.
    """
    found: dict[tuple[Column, ...], None] = {}
    for fill in (_side_by_side, _one_after_another):
        runs: dict[int, list[Run]] = {}
        for kind in {kind for kind, _ in stages}:
            own = [tensor for other, tensor in stages if other == kind]
            filled = fill(
                {pool: space.pools[pool].devices for pool in kinds[kind].pools}, own, data
            )
            if filled is None:
                break
            runs[kind] = filled
        else:
            found[_merged(runs, stages, data)] = None
    return list(found)


def _side_by_side(room: Mapping[int, int], tensors: list[int], data: int) -> list[Run] | None:
    """Place all stages of a replica in the same pool, then what is left where there is room."""
    left, runs, missing = dict(room), list[Run](), data
    for pool in room:
        number = min(left[pool] // sum(tensors), missing)
        left[pool] -= number * sum(tensors)
        missing -= number
        if number:
            runs.append(((pool,) * len(tensors), number))
    order = sorted(range(len(tensors)), key=lambda stage: -tensors[stage])
    for _ in range(missing):
        chosen = [-1] * len(tensors)
        for stage in order:
            chosen[stage] = next((pool for pool in room if left[pool] >= tensors[stage]), -1)
            if chosen[stage] < 0:
                return None
            left[chosen[stage]] -= tensors[stage]
        runs.append((tuple(chosen), 1))
    place = {pool: at for at, pool in enumerate(room)}
    return sorted(runs, key=lambda run: [place[pool] for pool in run[0]])


def _one_after_another(room: Mapping[int, int], tensors: list[int], data: int) -> list[Run] | None:
    """Place stage after stage, each filling pool after pool."""
    left, rows = dict(room), []
    for tensor in tensors:
        row: list[tuple[int, int]] = []
        missing = data
        for pool in room:
            number = min(left[pool] // tensor, missing)
            left[pool] -= number * tensor
            missing -= number
            if number:
                row.append((pool, number))
        if missing:
            return None
        rows.append([pool for pool, number in row for _ in range(number)])
    return [(key, len(list(group))) for key, group in groupby(zip(*rows, strict=True))]


def _merged(
    runs: Mapping[int, list[Run]], stages: tuple[Member, ...], data: int
) -> tuple[Column, ...]:
    """Return the columns of all kinds together."""
    spread = {kind: [pools for pools, number in own for _ in range(number)]
              for kind, own in runs.items()}  # fmt: skip
    columns = []
    for replica in range(data):
        own = {kind: iter(rows[replica]) for kind, rows in spread.items()}
        columns.append(tuple((next(own[kind]), tensor) for kind, tensor in stages))
    return tuple(Column(key, len(list(group))) for key, group in groupby(columns))
