"""Machines launched together are revoked together: how often, and what follows.

A share :math:`c` of every machine's hazard is common: it takes all machines of the group at once.
The rest strikes each alone (Marshall and Olkin, 1967, doi:10.1080/01621459.1967.10482885). The
first revocation among :math:`n` machines then has the hazard of :math:`1 + (n - 1)(1 - c)` single
machines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import pandas as pd

from advisor.core.errors import InvalidInputError
from advisor.predictor.arrays import FloatArray, Floats
from advisor.transient.tables import table

# Revocations of one batch within six minutes count as one event; from 1 to 12 minutes the share
# of common ones is the same within a seventh.
SAME_TIME_H: Final = 0.1


@dataclass(frozen=True, slots=True)
class Together:
    """How machines of one launch hang together.

    ``machines_per_batch`` is the size of the batch of a machine drawn by chance, Σn² / Σn.
    """

    common_share: float
    batch_correlation: float
    machines_per_batch: float
    machines: int
    batches: int

    @property
    def design_effect(self) -> float:
        """How many machines of a batch say as much as one machine alone.

        Kish, 1965, Survey Sampling, section 8.2: large batches weigh by their machines.
        """
        return 1 + max(0.0, self.machines_per_batch - 1) * max(0.0, self.batch_correlation)


def group_hazard(machines: Floats, common_share: Floats) -> FloatArray:
    """Hazard of the first revocation in a group, in hazards of one machine.

    >>> float(group_hazard(8, 0.0)), float(group_hazard(8, 1.0)), float(group_hazard(1, 0.3))
    (8.0, 1.0, 1.0)
    """
    share = np.asarray(common_share, float)
    if not ((share >= 0) & (share <= 1)).all():
        raise InvalidInputError(
            "a share lies between 0 and 1.",
            where="common share of revocations",
            todo="0: machines are revoked alone; 1: always all together.",
        )
    return np.asarray(1 + (np.asarray(machines, float) - 1) * (1 - share))


def fit_together(launches: pd.DataFrame) -> Together:
    """Estimate the common share and the correlation within batches.

    Of pairs in a batch of which one or both are revoked, a share p goes at the same time; under
    the common-shock model p = c / (2 - c). The correlation of being revoked at all within a batch
    is that of a one-way analysis of variance; it sets what a batch tells about a rate.

    Parameters
    ----------
    launches : pandas.DataFrame
        One row per machine: batch, lifetime_h, revoked.
    """
    same = struck = 0.0
    for _, batch in launches.groupby("batch"):
        age = batch["lifetime_h"].to_numpy(float)
        gone = batch["revoked"].to_numpy(bool)
        first, second = np.triu_indices(len(age), k=1)
        struck += float((gone[first] | gone[second]).sum())
        near = np.abs(age[first] - age[second]) <= SAME_TIME_H
        same += float((gone[first] & gone[second] & near).sum())
    together = same / struck if struck else 0.0
    correlation, per_batch = _within_batches(launches)
    return Together(
        common_share=2 * together / (1 + together),
        batch_correlation=correlation,
        machines_per_batch=per_batch,
        machines=len(launches),
        batches=launches["batch"].nunique(),
    )


def _within_batches(launches: pd.DataFrame) -> tuple[float, float]:
    """Return the intraclass correlation of being revoked and the batch size of a machine."""
    grouped = launches.groupby("batch")["revoked"]
    size = grouped.size().to_numpy(float)
    share = grouped.mean().to_numpy(float)
    total, batches = size.sum(), len(size)
    weighted = float((size**2).sum() / total)
    if batches < 2 or total == batches:
        return 0.0, weighted
    mean = (size * share).sum() / total
    per_batch = (total - weighted) / (batches - 1)  # as the analysis of variance takes it
    between = (size * (share - mean) ** 2).sum() / (batches - 1)
    within = (size * share * (1 - share)).sum() / (total - batches)
    spread = between + (per_batch - 1) * within
    return (float((between - within) / spread) if spread > 0 else 0.0), weighted


@cache
def measured_together() -> Together:
    """Return the fit on the machines of Google's cloud watched in February 2019."""
    return fit_together(table("launches"))
