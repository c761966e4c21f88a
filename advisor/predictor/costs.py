"""The few constants of the physics, fitted on measured runs by kind of network."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Final

import numpy as np
from scipy.optimize import least_squares

from advisor.predictor.arrays import FloatArray
from advisor.predictor.baseline import step_columns
from advisor.predictor.compute import ComputeCosts
from advisor.predictor.jobs import Jobs
from advisor.predictor.runs import FAMILY_CODES, STACK_CODES

# Networks whose arithmetic looks alike share their constants.
KINDS: Final = {
    "language": ("language", "moe"),
    "encoder": ("encoder", "speech"),
    "image": ("vision", "cnn", "diffusion"),
    "other": ("recommender", "other"),
}
# Before any data: 60 % of the peak, 30 % for attention, 90 % of the bandwidth, 0.1 ms a layer.
START: Final = ComputeCosts(1.7, 1.0, 3.3, 1.1, 1e-4)
# Bounds keep a constant physical where the data do not determine it.
LOWEST: Final = ComputeCosts(1.05, 0.05, 1.5, 0.3, 2e-6)
HIGHEST: Final = ComputeCosts(4.0, 8.0, 12.0, 8.0, 3e-3)
# Residuals beyond this (in the logarithm) count as outliers, not as physics.
OUTLIER: Final = 0.25
FEWEST_RUNS: Final = 40
TOLERANCE: Final = 1e-6
# Submissions capture the step as one graph: what a launch costs them is a small share of the usual
# (Gray, 2019, "Getting started with CUDA graphs": 3.4 instead of 9.6 us a kernel, 2.9 of them its
# own run time).
GRAPH_LAUNCH_SHARE: Final = 0.1
REFERENCE_STACKS: Final = ("fsdp", "pytorch", "megatron")


def kind_of_family(family: str) -> int:
    """Return the index into `KINDS` of a family."""
    return next(index for index, names in enumerate(KINDS.values()) if family in names)


def kind_of(jobs: Jobs) -> np.ndarray:
    """Return the index into `KINDS` of every job."""
    of_code = np.array([kind_of_family(family) for family in FAMILY_CODES])
    return np.asarray(of_code[jobs.family_code.astype(int)])


def fit_costs(jobs: Jobs, log_step_s: FloatArray) -> dict[int, ComputeCosts]:
    """Fit the constants of every kind by robust least squares on the logarithm of the step.

    Software stacks differ by a factor that is not physics; each gets its own offset in the fit,
    relative to the common training frameworks (`REFERENCE_STACKS`), and the offsets are dropped.
    """
    kinds = kind_of(jobs)
    found = {}
    for kind in range(len(KINDS)):
        rows = np.flatnonzero(kinds == kind)
        enough = len(rows) >= FEWEST_RUNS
        found[kind] = _fit_kind(jobs.take(rows), log_step_s[rows]) if enough else START
    return found


def _fit_kind(jobs: Jobs, log_step_s: FloatArray) -> ComputeCosts:
    reference = [STACK_CODES[name] for name in REFERENCE_STACKS]
    stacks = [code for code in np.unique(jobs.stack_code) if code not in reference]
    dummies = np.stack([jobs.stack_code == code for code in stacks], axis=1) if stacks else None
    size = len(fields(ComputeCosts))

    def misfit(point: FloatArray) -> FloatArray:
        costs = _with_graphs(ComputeCosts(*np.exp(point[:size])), jobs)
        predicted = np.log(step_columns(jobs, costs).total_s)
        offset = dummies @ point[size:] if dummies is not None else 0.0
        return np.asarray(predicted + offset - log_step_s)

    start, low, high = (np.log(_values(costs)) for costs in (START, LOWEST, HIGHEST))
    free = np.full(len(stacks), np.inf)
    result = least_squares(
        misfit,
        np.concatenate([start, np.zeros(len(stacks))]),
        bounds=(np.concatenate([low, -free]), np.concatenate([high, free])),
        # Dogbox leaves a constant that the data say nothing about where it starts.
        method="dogbox",
        loss="soft_l1",
        f_scale=OUTLIER,
        # Beyond this the misfit no longer changes, and the solver may crawl along a valley.
        ftol=TOLERANCE,
        xtol=TOLERANCE,
        gtol=TOLERANCE,
    )
    return ComputeCosts(*(float(value) for value in np.exp(result.x[:size])))


def _values(costs: ComputeCosts) -> list[float]:
    return [float(getattr(costs, field.name)) for field in fields(costs)]


def costs_of(jobs: Jobs, by_kind: dict[int, ComputeCosts]) -> ComputeCosts:
    """Return the constants of every job as columns."""
    kinds = kind_of(jobs)
    table = np.array([_values(by_kind[kind]) for kind in sorted(by_kind)])
    return _with_graphs(ComputeCosts(*table[kinds].T), jobs)


def _with_graphs(costs: ComputeCosts, jobs: Jobs) -> ComputeCosts:
    """Return the constants with the launches of stacks that capture the step as a graph."""
    share = np.where(jobs.stack_code == STACK_CODES["tuned"], GRAPH_LAUNCH_SHARE, 1.0)
    return replace(costs, layer_pass_s=costs.layer_pass_s * share)
