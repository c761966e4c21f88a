"""Calibration by a user's own runs of a language model: the error with 0, 1, 2, 3 and 5 of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.boards.calibration_terms import DRAWS, OWN_RUNS, QUICK_DRAWS, falling
from benchmarks.boards.left_out import with_own_runs
from benchmarks.boards.registry import BOARDS
from benchmarks.boards.vtrain import left_out_networks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.boards.context import Context
    from benchmarks.boards.scoring import Scored
    from benchmarks.boards.vtrain import NetworksLeftOut


@BOARDS.register("calibration_vtrain")
def calibration_vtrain(context: Context) -> Iterator[Scored]:
    """One user for every width and depth; without own runs its error is that of a new network."""
    found = left_out_networks(context, "vtrain_multi")
    errors = errors_by_runs(found, QUICK_DRAWS if context.quick else DRAWS)
    yield falling(
        "calibration_vtrain", "Language models on 64 to 512 A100, with runs of the model",
        "public runs of vTrain", "all runs of one width and depth but those given",
        errors, len(np.unique(found.network)),
    )  # fmt: skip


def errors_by_runs(found: NetworksLeftOut, draws: int) -> dict[int, float]:
    """Return the mean over users and draws of the error of the runs not given [%], by their count.

    Of one draw, the same runs are asked whatever the count: those that five runs leave.
    """
    random = np.random.default_rng(0)
    most = max(OWN_RUNS)
    off: dict[int, list[float]] = {count: [] for count in OWN_RUNS}
    for network in np.unique(found.network):
        mine = np.flatnonzero(found.network == network)
        for _ in range(draws if len(mine) > most else 0):
            order = random.permutation(mine)
            asked = found.left.measured[order[most:]]
            for count in OWN_RUNS:
                rows = np.concatenate([order[:count], order[most:]])
                steps, _ = with_own_runs(found.jobs.take(rows), found.left.take(rows), count)
                off[count].append(float(np.mean(np.abs(steps / asked - 1))))
    return {count: 100 * float(np.mean(values)) for count, values in off.items()}
