"""What to measure next: the few minutes on two types of machines that make the choice surer."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.advice.contenders import contender_rows, entry_covariance
from advisor.advice.plans import cluster_of, offer_of
from advisor.core.units import HOUR_S
from advisor.domain import Probe, ProbeRun, Probes
from advisor.predictor.value_of_information import Choices, worth_of_measuring
from advisor.search.constraints import apply
from advisor.search.interruptions import surest_known

if TYPE_CHECKING:
    from advisor.advice.engine import Engine
    from advisor.predictor.arrays import FloatArray
    from advisor.predictor.value_of_information import Worth
    from advisor.search.constraints import Constraints
    from advisor.search.search import Evaluated

DURATION_S: Final = 300.0
# The first step is slow; fewer after it say little.
FEWEST_STEPS: Final = 3.0
MOST_RUNS: Final = 64
MOST_TYPES: Final = 10
SHOWN: Final = 3


def what_to_measure(
    evaluated: Evaluated, within: np.ndarray, limits: Constraints, engine: Engine
) -> Probes:
    """Rank pairs of short runs by how far they lower the expected regret of the cheapest plan.

    A run is one of this very job of about five minutes, and of `FEWEST_STEPS` at least, on
    machines within the limits (deadline and budget are none of a probe's). Two, on two types of
    accelerator: predictions of one job go wrong together, so that one run says how long it takes
    but hardly where it is cheapest. Chosen is the plan with the least expected bill, which is
    not always that of the least median: a wider interval weighs.

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
    # As the picks are chosen: not from plans whose bill is a bound from below.
    chosen_from = contender_rows(plans, surest_known(plans, within))
    runnable = _runnable(plans, chosen_from, limits, evaluated)
    rows = np.concatenate([chosen_from, runnable["row"].to_numpy()])
    joint = entry_covariance(evaluated, plans["entry"].to_numpy()[rows], engine)
    fixed, variable = _cost_of_errors(plans, chosen_from)
    n, noise = len(chosen_from), engine.predictor.model.components.repeat_sigma
    choices = Choices(fixed, variable, joint[:n, :n])
    alone = worth_of_measuring(choices, joint, noise, [[run] for run in range(len(runnable))])
    pairs = _pairs(runnable, alone, [str(name) for name in plans["accelerator"].iloc[chosen_from]])
    together = worth_of_measuring(choices, joint, noise, pairs)
    price = runnable["probe_usd"].to_numpy()
    cost = np.array([price[pair].sum() for pair in pairs])
    order = np.argsort(cost - together.saving, kind="stable")[:SHOWN]
    wanted = sorted({run for at in order for run in pairs[at]})
    runs = {run: _run(plans, runnable, run, engine) for run in wanted}
    return Probes(
        regret_usd=together.regret_before,
        wrong_probability=together.wrong_before,
        plans=n,
        probes=tuple(
            Probe(
                runs=tuple(runs[run] for run in pairs[at]),
                regret_usd=float(together.regret_after[at]),
                wrong_probability=float(together.wrong_after[at]),
                pays=bool(together.saving[at] > cost[at]),
            )
            for at in order
        ),
    )


def _pairs(runnable: pd.DataFrame, alone: Worth, hopeful: list[str]) -> list[list[int]]:
    """Return the pairs of runs to look at, as positions among the runnable ones.

    Of each of the most hopeful types the run most worth its price; where there is one type only,
    runs of different size on it; a single run where there is no other.
    """
    net = pd.Series(alone.saving - runnable["probe_usd"].to_numpy())
    ranked = runnable["accelerator"].reset_index(drop=True).iloc[np.argsort(-net, kind="stable")]
    best_of_type = ranked.drop_duplicates()
    if len(best_of_type) == 1:
        some = ranked.index[:MOST_TYPES].tolist()
    else:
        run_of = dict(zip(best_of_type, best_of_type.index.tolist(), strict=True))
        some = [run_of[name] for name in dict.fromkeys(hopeful) if name in run_of][:MOST_TYPES]
    if len(some) == 1:
        return [some]
    return [sorted(pair) for pair in combinations(some, 2)]


def _runnable(
    plans: pd.DataFrame, chosen_from: np.ndarray, limits: Constraints, evaluated: Evaluated
) -> pd.DataFrame:
    """Return the cheapest run on every number of every accelerator that may be chosen.

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
    return ordered.drop_duplicates(["accelerator", "accelerators_total"]).head(MOST_RUNS)


def _cost_of_errors(plans: pd.DataFrame, rows: np.ndarray) -> tuple[FloatArray, FloatArray]:
    """Return the part of each bill that a slower step leaves alone, and the part it scales."""
    table = plans.iloc[rows]
    cost = table["cost_usd"].to_numpy(float)
    start = table["startup_h"].to_numpy(float) / table["hours"].to_numpy(float)
    return cost * start, cost * (1 - start)


def _run(plans: pd.DataFrame, runnable: pd.DataFrame, position: int, engine: Engine) -> ProbeRun:
    run = runnable.iloc[position]
    plan = plans.iloc[int(run["row"])]
    return ProbeRun(
        cluster=cluster_of(plan),
        offer=offer_of(engine, int(plan["offer"])),
        duration_s=float(run["duration_s"]),
        wait_s=float(run["wait_s"]),
        cost_usd=float(run["probe_usd"]),
    )
