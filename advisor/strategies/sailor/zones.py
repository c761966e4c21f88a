"""Which zones and accelerators are taken together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from advisor.strategies.sailor.options import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.strategies.sailor.space import Port, Space

# Message that tells a near zone from a far one, and how much longer it takes to a far one.
PROBE_BYTES: Final = 16e6
FAR: Final = 2.0
# With more kinds the tables of the programme would be too coarse.
MOST_KINDS: Final = 4
MOST_PARTED: Final = 3


@dataclass(frozen=True, slots=True)
class Choice:
    """Kinds in some of the zones; ``slowest`` is the slowest link between neighbours in a ring."""

    kinds: tuple[Kind, ...]
    devices: tuple[int, ...]
    slowest: tuple[Port, Port]


@dataclass(frozen=True, slots=True)
class Structure:
    """Kinds in all zones, and choices of the zones of which each has the same kinds."""

    kinds: tuple[Kind, ...]
    choices: tuple[Choice, ...]


def structures(space: Space) -> Iterator[Structure]:
    """Yield what is taken together: accelerators over near zones, and over all of them."""
    zones = list(dict.fromkeys(pool.zone for pool in space.pools))
    gpus = list(dict.fromkeys(pool.gpu for pool in space.pools))
    paths = _paths(space, zones)
    whole = max(paths, key=len)
    for parts in _partitions(gpus):
        if len(parts) > MOST_KINDS:
            continue
        chosen = [_choice(space, parts, path) for path in paths]
        every = _kinds(space, parts, whole)
        alike = [one for one in chosen if len(one.kinds) == len(every)]
        yield Structure(every, tuple(alike))
    clusters = _clusters(space, zones)
    if 1 < len(clusters) * len(gpus) <= MOST_KINDS and len(clusters) > 1:
        kinds = tuple(
            kind
            for cluster in clusters
            for kind in _kinds(space, [[gpu] for gpu in gpus], _path(space, cluster, cluster[0]))
        )
        yield Structure(kinds, (_with_links(space, kinds),))


def _choice(space: Space, parts: Sequence[Sequence[str]], path: Sequence[str]) -> Choice:
    return _with_links(space, _kinds(space, parts, path))


def _kinds(space: Space, parts: Sequence[Sequence[str]], path: Sequence[str]) -> tuple[Kind, ...]:
    """Return a kind for every part of the accelerators, zones in the order of the path."""
    kinds = [
        Kind(tuple(
            number
            for zone in path
            for number, pool in enumerate(space.pools)
            if pool.zone == zone and pool.gpu in part
        ))
        for part in parts
    ]  # fmt: skip
    return tuple(kind for kind in kinds if kind.pools)


def _with_links(space: Space, kinds: tuple[Kind, ...]) -> Choice:
    pairs = [
        (space.port(one, 1), space.port(other, 1))
        for kind in kinds
        for one, other in [(kind.pools[0], kind.pools[0]),
                           *pairwise(kind.pools)]
    ]  # fmt: skip
    slowest = max(pairs, key=lambda pair: float(space.links.transfer_s(PROBE_BYTES, *pair)))
    devices = tuple(sum(space.pools[pool].devices for pool in kind.pools) for kind in kinds)
    return Choice(kinds, devices, slowest)


def _paths(space: Space, zones: Sequence[str]) -> list[list[str]]:
    """Return chains of near zones: from every zone on, of every length, the best per set."""
    best: dict[frozenset[str], tuple[float, list[str]]] = {}
    for start in zones:
        path = _path(space, zones, start)
        for length in range(1, len(path) + 1):
            chain = path[:length]
            hops = [_probe_s(space, a, b) for a, b in pairwise(chain)]
            worst = max(hops, default=0.0)
            known = best.get(frozenset(chain))
            if known is None or worst < known[0]:
                best[frozenset(chain)] = worst, chain
    return [chain for _, chain in best.values()]


def _path(space: Space, zones: Sequence[str], start: str) -> list[str]:
    path = [start]
    while len(path) < len(zones):
        rest = [zone for zone in zones if zone not in path]
        path.append(min(rest, key=lambda zone: _probe_s(space, path[-1], zone)))
    return path


def _clusters(space: Space, zones: Sequence[str]) -> list[list[str]]:
    """Return zones that are near to each other."""
    clusters: list[list[str]] = []
    for zone in zones:
        for cluster in clusters:
            if _probe_s(space, cluster[0], zone) <= FAR * _probe_s(space, zone, zone):
                cluster.append(zone)
                break
        else:
            clusters.append([zone])
    return clusters


def _probe_s(space: Space, one: str, other: str) -> float:
    """Return how long a message takes between the first accelerators of two zones [s]."""
    first = {pool.zone: number for number, pool in reversed(list(enumerate(space.pools)))}
    return float(space.links.transfer_s(
        PROBE_BYTES, space.port(first[one], 1), space.port(first[other], 1)
    ))  # fmt: skip


def _partitions(items: list[str]) -> list[list[list[str]]]:
    """Return all ways to put accelerators together; of many only each alone and all as one."""
    if len(items) > MOST_PARTED:
        return [[[item] for item in items], [items]]
    if not items:
        return [[]]
    found = []
    for parts in _partitions(items[1:]):
        found.append([[items[0]], *parts])
        found += [
            [*parts[:at], [items[0], *part], *parts[at + 1 :]] for at, part in enumerate(parts)
        ]
    return found
