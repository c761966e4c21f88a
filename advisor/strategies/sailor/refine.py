"""Better neighbours of a good plan: other options, another stage, another size, other zones."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.strategies.sailor.coarse import MOST_STAGES, replicas
from advisor.strategies.sailor.exact import Candidate, Found, Mark, better, exact
from advisor.strategies.sailor.options import Kind
from advisor.strategies.sailor.zones import Choice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from advisor.strategies.sailor.options import Options
    from advisor.strategies.sailor.space import Space

ROUNDS: Final = 6
# More orders of zones than those of five are not tried.
MOST_ZONES: Final = 5


def refined(
    space: Space,
    found: Found,
    tables: Mapping[tuple[Kind, ...], Mapping[int, Options]],
    seen: set[Mark],
) -> Found:
    """Return the plan after going to the best neighbour as long as one is better.

    Parameters
    ----------
    tables : mapping
        Options by kinds and micro-batch.
    seen : set
        Marks of the candidates that were looked at already; grows.
    """
    best = found
    for _ in range(ROUNDS):
        before = best
        for candidate in _neighbours(space, before.candidate, tables):
            if candidate.mark not in seen:
                seen.add(candidate.mark)
                best = better(best, exact(space, candidate, best)) or best
        if best is before:
            break
    return _other_orders(space, best)


def _neighbours(
    space: Space,
    candidate: Candidate,
    tables: Mapping[tuple[Kind, ...], Mapping[int, Options]],
) -> Iterator[Candidate]:
    """Yield each changed sequence with as many replicas as fit, and with as many as before."""
    choice, options = candidate.choice, candidate.options
    for sequence in dict.fromkeys(_sequences(candidate.sequence, len(options))):
        for data in _data(space, choice, options, sequence, candidate.data):
            yield Candidate(choice, options, sequence, data)
    pairs = [(int(options.kind[one]), int(options.tensor[one])) for one in candidate.sequence]
    for other in tables[choice.kinds].values():
        at = {(int(kind), int(tensor)): number for number, (kind, tensor) in
              enumerate(zip(other.kind, other.tensor, strict=True))}  # fmt: skip
        if other is not options and all(pair in at for pair in pairs):
            sequence = tuple(at[pair] for pair in pairs)
            for data in _data(space, choice, other, sequence, candidate.data):
                yield Candidate(choice, other, sequence, data)


def _sequences(sequence: tuple[int, ...], options: int) -> Iterator[tuple[int, ...]]:
    yield sequence
    for at in range(len(sequence)):
        if len(sequence) > 1:
            yield sequence[:at] + sequence[at + 1 :]
        for option in range(options):
            yield (*sequence[:at], option, *sequence[at + 1 :])
    if len(sequence) < MOST_STAGES:
        for at in range(len(sequence) + 1):
            for option in range(options):
                yield (*sequence[:at], option, *sequence[at:])
    for one, other in combinations(range(len(sequence)), 2):
        swapped = list(sequence)
        swapped[one], swapped[other] = sequence[other], sequence[one]
        yield tuple(swapped)


def _data(
    space: Space, choice: Choice, options: Options, sequence: tuple[int, ...], before: int
) -> list[int]:
    need = np.bincount(options.kind[list(sequence)], weights=options.tensor[list(sequence)],
                       minlength=len(choice.kinds))  # fmt: skip
    room = np.array(choice.devices)
    most = int((room[need > 0] // need[need > 0]).min())
    fitting = replicas(space.global_batch, options.micro_batch, most)
    kept = [int(fitting[-1])] if len(fitting) else []
    return [*kept, before] if before < most and before not in kept else kept


def _other_orders(space: Space, best: Found) -> Found:
    """Return the plan with its zones in the best order."""
    choice = best.candidate.choice
    zones = list(dict.fromkeys(space.pools[pool].zone for kind in choice.kinds
                               for pool in kind.pools))  # fmt: skip
    if not 1 < len(zones) <= MOST_ZONES:
        return best
    for order in permutations(zones):
        kinds = tuple(
            Kind(tuple(sorted(kind.pools, key=lambda pool: order.index(space.pools[pool].zone))))
            for kind in choice.kinds
        )
        moved = Choice(kinds, choice.devices, choice.slowest)
        cut = Candidate(moved, best.candidate.options, best.candidate.sequence,
                        best.candidate.data)  # fmt: skip
        best = better(best, exact(space, cut, cuts=best.plan.cuts)) or best
    return best
