"""What to measure next: the few minutes on some machines that make the choice surer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.advice.plans import cluster_of, offer_of
from advisor.core.units import HOUR_S
from advisor.domain import Probe, Probes
from advisor.predictor.calibration import error_covariance
from advisor.predictor.value_of_information import Choices, worth_of_measuring
from advisor.search.constraints import apply

if TYPE_CHECKING:
    from advisor.advice.engine import Engine
    from advisor.predictor.arrays import FloatArray
    from advisor.predictor.value_of_information import Worth
    from advisor.search.constraints import Constraints
    from advisor.search.search import Evaluated

DURATION_S: Final = 300.0
# The first step is slow; fewer after it say little.
FEWEST_STEPS: Final = 3.0
MOST_CHOICES: Final = 64
MOST_PROBES: Final = 96
SHOWN: Final = 3
# Plans are compared where one in ten of their bills is among the lowest.
HOPEFUL: Final = 1.2816


def what_to_measure(
    evaluated: Evaluated, within: np.ndarray, limits: Constraints, engine: Engine
) -> Probes:
    """Rank short runs by how far each lowers the expected regret of choosing the cheapest plan.

    A probe is a run of this very job of about five minutes, and of `FEWEST_STEPS` at least, on
    machines within the limits (deadline and budget are none of a probe's). One is shown for every
    type of accelerator. Chosen is the plan with the least expected bill, which is not always that
    of the least median: a wider interval weighs.

    Parameters
    ----------
    evaluated : Evaluated
        The answer's table.
    within : array of int
        Its rows within the limits, one at least.
    limits : Constraints
        Those limits.
    engine : Engine
        What predicted it; own runs that calibrate it count as measured.
    """
    plans = evaluated.plans
    chosen_from = _choices(plans, within)
    runnable = _runnable(plans, chosen_from, limits, evaluated)
    rows = np.concatenate([chosen_from, runnable["row"].to_numpy()])
    joint = _covariance(evaluated, plans["entry"].to_numpy()[rows], engine)
    fixed, variable = _cost_of_errors(plans, chosen_from)
    n = len(chosen_from)
    worth = worth_of_measuring(
        Choices(fixed, variable, joint[:n, :n]),
        joint,
        engine.predictor.model.components.repeat_sigma,
    )
    return Probes(
        regret_usd=worth.regret_before,
        wrong_probability=worth.wrong_before,
        plans=n,
        probes=tuple(
            _probe(plans, runnable.iloc[position], worth, position, engine)
            for position in _ranked(runnable, worth)
        ),
    )


def _choices(plans: pd.DataFrame, rows: np.ndarray) -> np.ndarray:
    """Return the rows that could turn out cheapest, each machine shape and count at its price."""
    table = plans.iloc[rows]
    cost = table["cost_usd"].to_numpy()
    hopeful = cost * np.exp(-HOPEFUL * table["log_sigma"].to_numpy())
    order = np.argsort(cost, kind="stable")
    _, first = np.unique(table["entry"].to_numpy()[order], return_index=True)
    cheapest = order[first]
    return rows[cheapest[np.argsort(hopeful[cheapest], kind="stable")[:MOST_CHOICES]]]


def _runnable(
    plans: pd.DataFrame, chosen_from: np.ndarray, limits: Constraints, evaluated: Evaluated
) -> pd.DataFrame:
    """Return the cheapest probe on every number of every accelerator that may be chosen.

    Returns
    -------
    DataFrame
        ``row`` of the plan on the same machines, ``accelerator``, ``accelerators_total``,
        ``duration_s``, ``wait_s``, ``probe_usd``.
    """
    mask, _ = apply(plans, replace(limits, deadline_h=None, budget_usd=None))
    most = plans.iloc[chosen_from].groupby("accelerator", observed=True)["accelerators_total"].max()
    allowed = plans["accelerator"].astype(str).map(most).to_numpy(float)
    rows = np.flatnonzero(mask & (plans["accelerators_total"].to_numpy() <= allowed))
    table = plans.iloc[rows]
    step_s = evaluated.best.prediction.step_s[table["entry"].to_numpy()]
    duration_s = np.maximum(DURATION_S, FEWEST_STEPS * step_s)
    wait_s = table["startup_h"].to_numpy() * HOUR_S
    rate = table["machines"].to_numpy() * table["usd_per_h"].to_numpy()
    probes = pd.DataFrame(
        {
            "row": rows,
            "accelerator": table["accelerator"].astype(str).to_numpy(),
            "accelerators_total": table["accelerators_total"].to_numpy(),
            "duration_s": duration_s,
            "wait_s": wait_s,
            "probe_usd": rate * (duration_s + wait_s) / HOUR_S,
        }
    )
    ordered = probes.sort_values("probe_usd", kind="stable")
    return ordered.drop_duplicates(["accelerator", "accelerators_total"]).head(MOST_PROBES)


def _covariance(evaluated: Evaluated, entries: np.ndarray, engine: Engine) -> FloatArray:
    """Return how the errors of predictions go together, given the own runs, if any."""
    model, calibration = engine.predictor.model, engine.predictor.calibration
    jobs = evaluated.best.jobs.take(entries)
    if calibration is None:
        prediction = evaluated.best.prediction.take(entries)
    else:
        jobs = calibration.on_own_stack(jobs)
        prediction = model.predict(jobs)
    return error_covariance(jobs, prediction, model.components, calibration)


def _cost_of_errors(plans: pd.DataFrame, rows: np.ndarray) -> tuple[FloatArray, FloatArray]:
    """Return the part of each bill that a slower step leaves alone, and the part it scales."""
    table = plans.iloc[rows]
    cost = table["cost_usd"].to_numpy(float)
    start = table["startup_h"].to_numpy(float) / table["hours"].to_numpy(float)
    return cost * start, cost * (1 - start)


def _ranked(runnable: pd.DataFrame, worth: Worth) -> list[int]:
    """Return the positions of the probe most worth it of each accelerator, `SHOWN` at most."""
    net = worth.saving - runnable["probe_usd"].to_numpy()
    order = pd.Series(runnable["accelerator"].to_numpy()).iloc[np.argsort(-net, kind="stable")]
    return [int(position) for position in order.drop_duplicates().index[:SHOWN]]


def _probe(
    plans: pd.DataFrame, probe: pd.Series, worth: Worth, position: int, engine: Engine
) -> Probe:
    plan = plans.iloc[int(probe["row"])]
    cost = float(probe["probe_usd"])
    return Probe(
        cluster=cluster_of(plan),
        offer=offer_of(engine, int(plan["offer"])),
        duration_s=float(probe["duration_s"]),
        wait_s=float(probe["wait_s"]),
        cost_usd=cost,
        regret_usd=float(worth.regret_after[position]),
        wrong_probability=float(worth.wrong_after[position]),
        pays=bool(worth.saving[position] > cost),
    )
