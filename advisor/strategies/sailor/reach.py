"""How far so many stages reach: a dynamic programme over stages and accelerators, from the end.

For a pace and a limit of the gradients per device, each stage takes as many layers as it can. The
tables depend on the micro-batch and not on the number of replicas: a unit is an accelerator in
every replica, so one programme answers for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.predictor.arrays import FloatArray
    from advisor.strategies.sailor.options import Options


@dataclass(frozen=True, slots=True)
class Limits:
    """Paces [s] and the most gradients a device holds [bytes]; a limit is a pair of both.

    Pairs are numbered with the weights running faster.
    """

    paces_s: FloatArray
    weights_bytes: FloatArray

    def __len__(self) -> int:
        return len(self.paces_s) * len(self.weights_bytes)

    @property
    def pace_s(self) -> FloatArray:
        """Pace of every pair [s]."""
        return np.repeat(self.paces_s, len(self.weights_bytes))

    def pairs(self, by_pace: np.ndarray, by_weight: np.ndarray) -> np.ndarray:
        """Return the larger of both for every pair; the first axis is that of the limits."""
        both = np.maximum(by_pace[:, None], by_weight[None, :])
        return np.asarray(both.reshape(len(self), *by_pace.shape[1:]))


@dataclass(frozen=True, slots=True)
class Reached:
    """First layer reached by k stages: ``starts[k - 1][limit, option of the first, units...]``.

    A number above that of the layers is what no stages reach.
    """

    options: Options
    limits: Limits
    starts: list[np.ndarray]
    steps: np.ndarray  # (option, limit, option behind, stop): first layer by pace and weights
    firsts: np.ndarray  # (option, depth, stop): first layer by memory

    def whole(self, stages: int) -> np.ndarray:
        """Return whether so many stages hold all layers, by limit and units, with any option."""
        return np.asarray((self.starts[stages - 1] == 0).any(axis=1))

    def sequence(self, stages: int, limit: int, units: tuple[int, ...]) -> tuple[int, ...]:
        """Return the options of the stages, first to last, of an entry that holds all layers."""
        option = int(np.argmin(self._at(stages, limit, units)))
        found, left = [option], list(units)
        for depth in range(stages, 1, -1):
            goal = self._at(depth, limit, left)[option]
            left[self.options.kind[option]] -= int(self.options.tensor[option])
            stops = self._at(depth - 1, limit, left)
            table = _table(self.steps[option, limit], self.firsts[option, depth])
            option = int(np.argmax(table[np.arange(len(stops)), stops] == goal))
            found.append(option)
        return tuple(found)

    def _at(self, stages: int, limit: int, units: Sequence[int]) -> np.ndarray:
        """Return the first layer by the option of the first stage."""
        place: tuple[int | slice, ...] = (limit, slice(None), *units)
        return np.asarray(self.starts[stages - 1][place])


def reach(options: Options, limits: Limits, units: tuple[int, ...], most_stages: int) -> Reached:
    """Return the first layers reached, for all limits and all units up to those given."""
    steps, lasts = _by_pace(options, limits)
    firsts = _by_memory(options, most_stages)
    layers, never = options.layers, options.layers + 1
    start = np.full((len(limits), len(options), *(n + 1 for n in units)), never, dtype=np.intp)
    for option in range(len(options)):
        place = [0] * len(units)
        place[options.kind[option]] = int(options.tensor[option])
        if all(used <= most for used, most in zip(place, units, strict=True)):
            reached = np.maximum(lasts[option], firsts[option, 1, layers])
            first: tuple[int | slice, ...] = (slice(None), option, *place)
            start[first] = np.where(reached < layers, reached, never)
    starts = [start]
    for depth in range(2, most_stages + 1):
        new = _one_more(options, starts[-1], steps, firsts, depth)
        if new.min() == never:
            break
        starts.append(new)
    return Reached(options, limits, starts, steps, firsts)


def _table(steps: np.ndarray, firsts: np.ndarray) -> np.ndarray:
    """Return the first layer of one more stage by where the stage behind starts.

    Shape (..., layers + 2): the last is where no stage starts, and what gains no layer is there.
    """
    layers = steps.shape[-1] - 1
    table = np.maximum(steps, firsts)
    gained = np.where(table < np.arange(layers + 1), table, layers + 1)
    return np.concatenate([gained, np.full((*gained.shape[:-1], 1), layers + 1)], axis=-1)


def _one_more(
    options: Options, behind: np.ndarray, steps: np.ndarray, firsts: np.ndarray, depth: int
) -> np.ndarray:
    never = options.layers + 1
    new = np.full_like(behind, never)
    pairs = behind.shape[0] * behind.shape[1]
    offset = (np.arange(pairs) * (never + 1)).reshape(*behind.shape[:2], *([1] * (behind.ndim - 2)))
    for option in range(len(options)):
        axis, used = 1 + int(options.kind[option]), int(options.tensor[option])
        if used >= behind.shape[axis + 1]:
            continue
        free = tuple(
            slice(0, -used) if at == axis + 1 else slice(None) for at in range(behind.ndim)
        )
        table = _table(steps[option], firsts[option, depth]).ravel()
        best = np.take(table, behind[free] + offset).min(axis=1)
        taken = [slice(used, None) if at == axis else slice(None) for at in range(new.ndim - 1)]
        new[(taken[0], option, *taken[1:])] = best
    return new


def _by_pace(options: Options, limits: Limits) -> tuple[np.ndarray, np.ndarray]:
    """Return the first layers by pace and weights: of a stage in front of another, of the last.

    The stage before is not known yet; its link is taken to be that to the stage behind.
    """
    number, layers = len(options), options.layers
    steps = np.empty((number, len(limits), number, layers + 1), dtype=np.intp)
    lasts = np.empty((number, len(limits)), dtype=np.intp)
    held = options.weight_bytes[None, :] - options.weight_bytes[:, None]
    for option in range(number):
        share = held / options.shards[option]
        light = np.stack([_first(share <= limit, axis=0) for limit in limits.weights_bytes])
        pace = options.busy_s[option] + options.onward_s[option][:, None, :]
        pace[:, 1:] += options.back_s[option][:, 1:, None]
        quick = np.stack([_first(pace <= limit, axis=1) for limit in limits.paces_s])
        steps[option] = limits.pairs(quick, np.repeat(light[:, None], number, axis=1))
        pace = options.busy_s[option][:, layers].copy()
        pace[1:] += 2 * options.back_s[option, option][1:]
        ends = np.array([_first((pace <= limit)[:, None], axis=0)[0] for limit in limits.paces_s])
        lasts[option] = limits.pairs(np.where(ends == 0, _unless(pace, limits), ends),
                                     light[:, layers])  # fmt: skip
    return steps, lasts


def _unless(pace: FloatArray, limits: Limits) -> np.ndarray:
    """Return 0 where a stage with all layers keeps the pace, the number of layers elsewhere."""
    return np.where(pace[0] <= limits.paces_s, 0, len(pace) - 1)


def _first(ok: np.ndarray, *, axis: int) -> np.ndarray:
    """Return the first True of an axis, its position in the last axis where there is none."""
    rows = np.arange(ok.shape[-1])
    return np.where(ok.any(axis=axis), np.argmax(ok, axis=axis), rows)


def _by_memory(options: Options, most_stages: int) -> np.ndarray:
    """Return the first layer that fits, shape (option, depth, stop); ``stop`` where none does."""
    firsts = [_first(options.depth >= max(depth, 1), axis=1) for depth in range(most_stages + 1)]
    return np.stack(firsts, axis=1)
