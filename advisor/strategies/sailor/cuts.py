"""Where to cut the layers for a given sequence of options: exact, by dynamic programming."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from advisor.predictor.arrays import FloatArray
    from advisor.strategies.sailor.options import Options

# Paces that are tried, by the least possible, and exchanges.
PACES: Final = np.array([1.0, 1.02, 1.05, 1.09, 1.14, 1.2, 1.3, 1.45, 1.7, 2.2])
RINGS: Final = np.array([1.0, 1.3, 1e9])


def stage_times(options: Options, sequence: tuple[int, ...]) -> FloatArray:
    """Return time and communication of every stage by its layers, shape (stages, L + 1, L + 1).

    Infinite where the layers do not fit into memory. Ends are no stages elsewhere: the first
    starts with layer 0, the last ends with the last layer.
    """
    last, layers = len(sequence) - 1, options.layers
    times = options.busy_s[list(sequence)].copy()
    for stage, option in enumerate(sequence):
        if last == 0:
            pass
        elif stage == 0:
            factor = 1 if last <= 2 else 2
            times[stage] += factor * options.onward_s[option, sequence[1]][None, :]
        elif stage == last:
            times[stage] += 2 * options.back_s[option, sequence[stage - 1]][:, None]
        else:
            times[stage] += options.onward_s[option, sequence[stage + 1]][None, :]
            times[stage] += options.back_s[option, sequence[stage - 1]][:, None]
        times[stage][options.depth[option] < last - stage + 1] = np.inf
    times[0][1:] = np.inf
    times[last][:, :layers] = np.inf
    return times


def best_cuts(
    options: Options,
    sequence: tuple[int, ...],
    count: int,
    ring_s_per_byte: float,
    beat_s: float = np.inf,
) -> tuple[tuple[int, ...], float] | None:
    """Return the cuts with the least ``(count - 1) · pace + fill + exchange``, and that time.

    Parameters
    ----------
    count : int
        Micro-batches per replica.
    ring_s_per_byte : float
        Time of the exchange per byte that a device of the heaviest stage holds.
    beat_s : float
        None is returned where the time cannot be below.
    """
    times = stage_times(options, sequence)
    held = options.weight_bytes[None, :] - options.weight_bytes[:, None]
    rings = np.stack([held / options.shards[option] * ring_s_per_byte for option in sequence])
    low = _bottleneck(times)
    light = _bottleneck(np.where(np.isfinite(times), rings, np.inf))
    if not (count - 1) * low + light < beat_s or not np.isfinite(low):
        return None
    best: tuple[tuple[int, ...], float] | None = None
    for ring in light * RINGS:
        allowed = np.where(rings <= ring * (1 + 1e-9), times, np.inf)
        least = _bottleneck(allowed)
        if not (count - 1) * least + light < beat_s:
            continue
        for cuts in _least_sums(allowed, least * PACES * (1 + 1e-12)):
            stages = np.arange(len(sequence)), np.array(cuts[:-1]), np.array(cuts[1:])
            own = times[stages]
            total = float((count - 1) * own.max() + own.sum() + rings[stages].max())
            if best is None or total < best[1] * (1 - 1e-12):
                best, beat_s = (cuts, total), min(beat_s, total)
    return best


def _bottleneck(times: FloatArray) -> float:
    """Return the least possible largest stage."""
    value = times[-1][:, -1]
    for stage in range(len(times) - 2, -1, -1):
        value = np.maximum(times[stage], value[None, :]).min(axis=1)
    return float(value[0])


def _least_sums(times: FloatArray, paces: FloatArray) -> list[tuple[int, ...]]:
    """Return the cuts with the least sum for every pace, without repeats."""
    allowed = np.where(times[None] <= paces[:, None, None, None], times[None], np.inf)
    value = allowed[:, -1, :, -1]
    choices = []
    for stage in range(times.shape[0] - 2, -1, -1):
        sums = allowed[:, stage] + value[:, None, :]
        choices.append(np.argmin(sums, axis=2))
        value = np.min(sums, axis=2)
    layers = times.shape[1] - 1
    found: dict[tuple[int, ...], None] = {}
    for row in np.flatnonzero(np.isfinite(value[:, 0])).tolist():
        cuts = [0]
        for choice in reversed(choices):
            cuts.append(int(choice[row, cuts[-1]]))
        found[(*cuts, layers)] = None
    return list(found)
