"""Estimates of all plans of one micro-batch size: replicas × stages × paces, vectorised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.core.units import HOUR_S
from advisor.strategies.sailor.reach import Limits, Reached, reach

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.predictor.arrays import FloatArray
    from advisor.strategies.sailor.options import Options
    from advisor.strategies.sailor.space import Space
    from advisor.strategies.sailor.zones import Choice, Structure

MOST_STAGES: Final = 16
PACES: Final = 16
WEIGHTS: Final = (1.01, 0.3, 0.12)
# Entries of the table of one stage; a larger space is planned with fewer accelerators a replica.
MOST_ENTRIES: Final = 120_000
# Estimates kept per choice of zones and micro-batch.
KEPT: Final = 40
SINGLES: Final = 4
# An estimate may break a limit by so much and be looked at all the same.
SLACK: Final = 1.2


@dataclass(frozen=True, slots=True)
class Entry:
    """An estimate: what sorts it, and where in the tables it comes from.

    ``least`` is what an iteration takes at least if no faster pace is possible [s], or -inf;
    ``corner`` the most accelerators per replica, or the option of a single stage.
    """

    key: tuple[float, float]
    least: float
    choice: Choice
    data: int
    stages: int
    limit: int
    corner: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Coarse:
    """The programme of one micro-batch size for all replicas of `numbers`.

    ``prices[k - 1][limit, units...]`` is the least price of k stages that hold all layers with at
    most so many accelerators per replica [USD/h], infinite where they are not enough.
    """

    options: Options
    reached: Reached
    prices: list[FloatArray]
    numbers: np.ndarray

    def sequence(self, entry: Entry) -> tuple[int, ...]:
        """Return the options of the stages of an estimate."""
        if entry.stages == 1:
            return entry.corner
        table = self.prices[entry.stages - 1][entry.limit]
        box = tuple(slice(0, most + 1) for most in entry.corner)
        cheap = table[box] <= table[entry.corner]
        whole = self.reached.whole(entry.stages)[entry.limit][box]
        first = np.unravel_index(int(np.argmax(cheap & whole)), whole.shape)
        return self.reached.sequence(entry.stages, entry.limit, tuple(int(n) for n in first))


def replicas(global_batch: int, micro_batch: int, most: int) -> np.ndarray:
    """Return the least replicas for every number of micro-batches, at most `most`.

    >>> replicas(16, 1, 16).tolist()
    [1, 2, 3, 4, 6, 8, 16]
    """
    samples = -(-global_batch // micro_batch)
    counts = np.arange(1, samples + 1)
    least = np.unique(-(-samples // counts))
    return least[least <= most]


def programme(space: Space, structure: Structure, options: Options) -> Coarse:
    """Return the tables for all choices of zones."""
    totals = np.max([choice.devices for choice in structure.choices], axis=0)
    numbers = replicas(space.global_batch, options.micro_batch, int(totals.sum()))
    units, numbers = _units(totals, numbers, len(options))
    reached = reach(options, _limits(options), units, MOST_STAGES)
    rates = [max(space.pools[pool].usd_per_h for pool in kind.pools) for kind in structure.kinds]
    prices = [_least_prices(reached, stages + 1, rates) for stages in range(len(reached.starts))]
    return Coarse(options, reached, prices, numbers)


def _units(
    totals: np.ndarray, numbers: np.ndarray, options: int
) -> tuple[tuple[int, ...], np.ndarray]:
    """Return the accelerators per replica to plan for, and the replicas that need no more."""
    for position, least in enumerate(numbers.tolist()):
        units = np.minimum(totals // least, 4 * MOST_STAGES)
        if PACES * len(WEIGHTS) * options * np.prod(units + 1.0) <= MOST_ENTRIES:
            return tuple(units.tolist()), numbers[position:]
    return tuple(np.minimum(totals, 1).tolist()), numbers[-1:]


def _limits(options: Options) -> Limits:
    """Return paces from the slowest single layer to the whole network, and shares of weights."""
    layers = options.layers
    single = options.busy_s[:, np.arange(layers), np.arange(1, layers + 1)].min(axis=0)
    fastest, slowest = float(single.max()), float(options.busy_s[:, 0, layers].max())
    paces = np.geomspace(fastest * 1.02, slowest * 1.01, PACES)
    return Limits(paces, options.weight_bytes[-1] * np.array(WEIGHTS))


def _least_prices(reached: Reached, stages: int, rates: list[float]) -> FloatArray:
    whole = reached.whole(stages)
    price = np.zeros(whole.shape[1:])
    for axis, rate in enumerate(rates):
        shape = [-1 if at == axis else 1 for at in range(price.ndim)]
        price = price + rate * np.arange(price.shape[axis]).reshape(shape)
    table = np.where(whole, price, np.inf)
    for axis in range(1, table.ndim):
        table = np.minimum.accumulate(table, axis=axis)
    return np.asarray(table)


def estimates(space: Space, choice: Choice, table: Coarse) -> Iterator[Entry]:
    """Yield the most promising estimates of a choice of zones: ``(M - 1 + k) · pace + ring``."""
    limits, numbers = table.reached.limits, table.numbers
    counts = -(-space.global_batch // (table.options.micro_batch * numbers))
    sizes = np.array(table.prices[0].shape[1:]) - 1
    corners = np.minimum(np.array(choice.devices)[None, :] // numbers[:, None], sizes)
    by_weight = [space.links.rings_s(weight, numbers, *choice.slowest)
                 for weight in limits.weights_bytes]  # fmt: skip
    rings = np.tile(np.stack(by_weight, axis=1), len(limits.paces_s))
    stages = np.arange(2, len(table.prices) + 1)
    if not len(stages):
        return
    step = limits.paces_s[1] / limits.paces_s[0]
    paces = limits.pace_s / np.sqrt(step)  # in the middle between what is possible and what not
    filled = (counts[:, None] - 1 + stages[None, :])[:, :, None]
    seconds = filled * paces + rings[:, None, :]
    prices = np.stack([one[(slice(None), *corners.T)].T for one in table.prices[1:]], axis=1)
    usd = seconds * prices * numbers[:, None, None] / HOUR_S
    possible = np.isfinite(prices)
    possible &= (seconds <= SLACK * space.goal.most_s) & (usd <= SLACK * space.goal.most_usd)
    value = np.where(possible, usd if space.goal.cheapest else seconds, np.inf)
    for row, stage, limit in _least(value, KEPT):
        least = (counts[row] - 1) * limits.pace_s[limit] / step
        yield Entry(
            key=(float(value[row, stage, limit]), float(usd[row, stage, limit])),
            least=-np.inf if space.goal.cheapest else float(least),
            choice=choice,
            data=int(numbers[row]),
            stages=stage + 2,
            limit=limit,
            corner=tuple(int(one) for one in corners[row]),
        )


def singles(space: Space, choice: Choice, table: Coarse) -> Iterator[Entry]:
    """Yield plans without a pipeline: their time is exact but for where zones meet."""
    options, layers = table.options, table.options.layers
    for option in np.flatnonzero(options.depth[:, 0, layers] >= 1).tolist():
        kind, tensor = int(options.kind[option]), int(options.tensor[option])
        numbers = replicas(space.global_batch, options.micro_batch, choice.devices[kind] // tensor)
        counts = -(-space.global_batch // (options.micro_batch * numbers))
        weight = options.weight_bytes[-1] / options.shards[option]
        seconds = counts * options.busy_s[option, 0, layers] + options.update_s[option, 0]
        seconds = seconds + space.links.rings_s(weight, numbers, *choice.slowest)
        rate = max(space.pools[pool].usd_per_h for pool in choice.kinds[kind].pools)
        usd = seconds * numbers * tensor * rate / HOUR_S
        possible = (seconds <= SLACK * space.goal.most_s) & (usd <= SLACK * space.goal.most_usd)
        value = np.where(possible, usd if space.goal.cheapest else seconds, np.inf)
        for (row,) in _least(value, SINGLES):
            yield Entry(
                key=(float(value[row]), float(usd[row])),
                least=-np.inf,
                choice=choice,
                data=int(numbers[row]),
                stages=1,
                limit=-1,
                corner=(option,),
            )


def _least(value: FloatArray, most: int) -> Iterator[tuple[int, ...]]:
    """Yield the places of the least finite values, least first."""
    flat = value.ravel()
    some = np.argpartition(flat, min(most, len(flat)) - 1)[:most] if len(flat) else flat.astype(int)
    for place in some[np.argsort(flat[some], kind="stable")].tolist():
        if np.isfinite(flat[place]):
            yield tuple(int(one) for one in np.unravel_index(place, value.shape))
