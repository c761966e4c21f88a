"""The random effects: what makes the errors of two predictions alike.

Two runs of one workload on one accelerator under one software stack miss their predictions by
nearly the same factor; runs that share less of it share less of their error.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import reduce
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from advisor.predictor.arrays import FloatArray
from advisor.predictor.difficulty import accelerator_columns, model_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.predictor.jobs import Jobs

EFFECTS: Final = ("stack", "accelerator", "workload", "configuration", "job")
# What two runs of a variant on an accelerator share falls to a third over so many doublings of
# devices and of samples per device; the likelihood of held-out residuals is flat from 3 to 6.
REACH_DOUBLINGS: Final = 4.0
SAME_FLOPS_DECIMALS: Final = 2


@dataclass(frozen=True, slots=True)
class Labels:
    """What the effects see of a job, one row each; equal rows are the same group."""

    stack: FloatArray
    accelerator: FloatArray
    workload: FloatArray
    variant: FloatArray
    scale: FloatArray
    job: FloatArray

    def __len__(self) -> int:
        return len(self.stack)

    @classmethod
    def of(cls, jobs: Jobs) -> Self:
        """Collect the labels of `jobs`.

        A workload is a model and the way it is tuned; a variant its sample size and precision; a
        scale the doublings of devices and of samples per device; a job all of them, in whatever
        layout.
        """
        flops = np.log(jobs.forward_flops_per_sample).round(SAME_FLOPS_DECIMALS)
        return cls(
            stack=_table(jobs.stack_code),
            accelerator=_table(*accelerator_columns(jobs)),
            workload=_table(*model_columns(jobs), jobs.backward_ratio),
            variant=_table(flops, jobs.precision_code),
            scale=_table(np.log2(jobs.devices), np.log2(jobs.global_batch / jobs.devices)),
            job=_table(jobs.devices, jobs.global_batch),
        )

    def take(self, rows: np.ndarray | slice) -> Labels:
        """Return the given rows."""
        return Labels(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    def groups(self) -> np.ndarray:
        """Return the number of each row's job: rows with all labels equal have the same one."""
        names = ("stack", "accelerator", "workload", "variant", "job")
        table = np.concatenate([getattr(self, name) for name in names], axis=1)
        return np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)


def alike(first: Labels, second: Labels, *, crossed: bool = True) -> Iterator[FloatArray]:
    """Yield how far pairs share each effect, in order `EFFECTS`.

    Every effect is a positive definite kernel: equality of labels, or for the configuration (a
    workload's variant on an accelerator) that times an exponential of the distance in scale.

    Parameters
    ----------
    crossed : bool
        Each of the first with each of the second, shape (first, second); else the first row with
        the first, the second with the second, and so on, shape (rows,).
    """
    label = _crossed if crossed else _beside
    stack = _equal(*label(first.stack, second.stack))
    accelerator = stack & _equal(*label(first.accelerator, second.accelerator))
    workload = _equal(*label(first.workload, second.workload))
    both = accelerator & workload & _equal(*label(first.variant, second.variant))
    yield stack.astype(float)
    yield accelerator.astype(float)
    yield workload.astype(float)
    yield both * np.exp(-_doublings(*label(first.scale, second.scale)) / REACH_DOUBLINGS)
    yield (both & _equal(*label(first.job, second.job))).astype(float)


def _table(*columns: FloatArray) -> FloatArray:
    return np.stack(columns, axis=1, dtype=float)


def _crossed(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return columns that broadcast to all pairs, from tables of shape (rows, columns)."""
    return first.T[:, :, None], second.T[:, None, :]


def _beside(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return columns that pair row by row."""
    return first.T, second.T


def _equal(first: FloatArray, second: FloatArray) -> np.ndarray:
    """Return where all columns are equal; one after the other, as all at once are far larger."""
    return reduce(np.logical_and, (one == other for one, other in zip(first, second, strict=True)))


def _doublings(first: FloatArray, second: FloatArray) -> FloatArray:
    return reduce(np.add, (np.abs(one - other) for one, other in zip(first, second, strict=True)))
