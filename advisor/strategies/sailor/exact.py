"""A candidate made a plan: its best cuts, its best places, its score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.strategies.sailor.columns import ColumnPlan
from advisor.strategies.sailor.cuts import best_cuts
from advisor.strategies.sailor.place import placed
from advisor.strategies.sailor.score import Score, score

if TYPE_CHECKING:
    from advisor.strategies.sailor.options import Options
    from advisor.strategies.sailor.space import Space
    from advisor.strategies.sailor.zones import Choice

# Places may be better than the slowest link that cuts are made with, by so much.
NEAR: Final = 1.1


Mark = tuple["Choice", int, tuple[int, ...], int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Options of the stages, first to last, on so many replicas."""

    choice: Choice
    options: Options
    sequence: tuple[int, ...]
    data: int

    @property
    def mark(self) -> Mark:
        """What tells it from other candidates."""
        return self.choice, self.options.micro_batch, self.sequence, self.data


@dataclass(frozen=True, slots=True)
class Found:
    """A plan, its score, what sorts it among others, and what it was made of."""

    plan: ColumnPlan
    score: Score
    key: tuple[float, float]
    candidate: Candidate


def better(one: Found | None, other: Found | None) -> Found | None:
    """Return the better of two, the first where they are equal."""
    if one is None or other is None:
        return one or other
    return other if other.key < one.key else one


def exact(
    space: Space,
    candidate: Candidate,
    best: Found | None = None,
    cuts: tuple[int, ...] | None = None,
) -> Found | None:
    """Return the candidate with its best cuts and places, None where it does not fit.

    Parameters
    ----------
    best : Found, optional
        What it has to beat: a candidate that is slower already by its cuts is not placed.
    cuts : tuple of int, optional
        Where the layers are cut, if that is known.
    """
    options, data = candidate.options, candidate.data
    cuts = cuts or _cuts(space, candidate, best)
    if cuts is None:
        return None
    stages = tuple((int(options.kind[one]), int(options.tensor[one]))
                   for one in candidate.sequence)  # fmt: skip
    found: Found | None = None
    for columns in placed(space, candidate.choice.kinds, stages, data):
        plan = ColumnPlan(options.micro_batch, cuts, columns)
        scored = score(space, plan)
        key = space.goal.key(scored.iteration_s, scored.usd)
        if scored.fits and key[0] < np.inf and (found is None or key < found.key):
            found = Found(plan, scored, key, candidate)
    return found


def _cuts(space: Space, candidate: Candidate, best: Found | None) -> tuple[int, ...] | None:
    options, data = candidate.options, candidate.data
    count = -(-space.global_batch // (options.micro_batch * data))
    mean = float(options.weight_bytes[-1]) / len(candidate.sequence)
    ring = space.links.ring_s(mean, data, *candidate.choice.slowest) / mean
    beat = NEAR * space.goal.most_s
    if best is not None and not space.goal.cheapest:
        beat = min(beat, NEAR * best.key[0])
    found = best_cuts(options, candidate.sequence, count, ring, beat)
    return None if found is None or found[1] > beat else found[0]
