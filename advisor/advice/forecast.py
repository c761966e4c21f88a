"""What a job takes on machines that are given, by name or by accelerator."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.advice.calibrated import calibrated_of
from advisor.advice.caveats import caveats, precision_note, whole_effort_note
from advisor.advice.entries import (
    basis_of,
    layout_of,
    memory_of,
    mfu_of,
    parts_of,
    step_time_of,
)
from advisor.advice.explain import explanation_of
from advisor.advice.machines import parse_machines
from advisor.advice.plans import make_plan
from advisor.core.errors import InvalidInputError, NoFeasiblePlanError, PredictionError
from advisor.core.units import GBIT_PER_S, HOUR_S
from advisor.domain import Estimate, Forecast, Workload
from advisor.predictor.costs import kind_of_family
from advisor.predictor.hardware import usual_link, usual_network
from advisor.search.exact import BestLayouts, best_layouts
from advisor.search.hardware import machine_columns, predictable
from advisor.search.search import Machines, SearchOptions, evaluate
from advisor.search.wide import wide_pass

if TYPE_CHECKING:
    from advisor.advice.engine import Engine
    from advisor.advice.nearest import Measured
    from advisor.domain import InstanceType, Plan

ASSUMED_PER_NODE: Final = 8
MOST_ACCELERATORS: Final = 100_000


def current_plan(
    text: str,
    workload: Workload,
    engine: Engine,
    deadline_h: float | None = None,
    options: SearchOptions | None = None,
) -> Plan:
    """Return the plan of what the user runs on today, at its lowest on-demand price.

    What runs today fits, so no memory margin is asked of it. A price that is not trusted counts
    only where there is no other.

    Parameters
    ----------
    text : str
        The machines, as `parse_machines` reads them.
    options : SearchOptions, optional
        Those of the search it is compared with: the allowance for retries holds for both.

    Raises
    ------
    InvalidInputError, NoFeasiblePlanError
        If the machines are unknown or have no price, or the job cannot run on them.
    """
    count, machine = parse_machines(text, engine.catalog)
    hardware = _hardware_of(machine, workload, engine)
    only = Machines(cloud=machine.cloud, instance_type=machine.name, count=count)
    asked = replace(options or SearchOptions(), memory_margin=0.0)
    evaluated = evaluate(workload, engine.catalog, engine.predictor, asked, only)
    plans = evaluated.plans
    if not len(plans):
        _best(workload, hardware, count, engine, f"{count} × {machine.name}")  # says why, if so
        raise InvalidInputError(
            f"the catalog has no price of {machine.name}.",
            where=machine.cloud,
            todo="Compare with another machine, or see `predict` for its time.",
        )
    on_demand = (plans["market"] == "on_demand").to_numpy()
    trusted = plans["rankable"].to_numpy(bool)
    cost = plans["cost_usd"].to_numpy()
    best = np.lexsort((cost, ~trusted, ~on_demand))[0]
    return make_plan(evaluated, int(best), engine, deadline_h)


def forecast_on_machines(
    text: str, workload: Workload, engine: Engine, measured: Measured | None = None
) -> Forecast:
    """Predict the job on machines of the catalog, such as ``4 x p4d.24xlarge``.

    With the `measured` runs the forecast is explained by those nearest to it.
    """
    count, machine = parse_machines(text, engine.catalog)
    hardware = _hardware_of(machine, workload, engine)
    best = _best(workload, hardware, count, engine, f"{count} × {machine.name}")
    devices = count * machine.accelerators
    forecast = _forecast(
        workload, engine, best, machine.accelerator, devices, count, machine.name, ()
    )
    return _explained(forecast, workload, engine, best, measured)


def forecast_on_accelerators(
    name: str,
    accelerators: int,
    workload: Workload,
    engine: Engine,
    measured: Measured | None = None,
) -> Forecast:
    """Predict the job on so many accelerators, in machines of eight with their usual network.

    With the `measured` runs the forecast is explained by those nearest to it.
    """
    facts = engine.catalog.accelerator(name)
    per_node = _per_node(accelerators)
    machines = accelerators // per_node
    row = engine.catalog.accelerators.loc[[facts.name]]
    network = float(usual_network(row["year"].to_numpy(float))[0])
    machine = pd.DataFrame(
        {
            "accelerator": facts.name,
            "accelerators": float(per_node),
            "accelerator_memory_bytes": facts.memory_bytes,
            "link_bytes_per_s": usual_link(row),
            "network_bytes_per_s": network,
        }
    )
    hardware = machine_columns(engine.catalog, machine, workload.precision)
    _check_predictable(hardware, facts.name, workload)
    best = _best(workload, hardware, machines, engine, f"{accelerators:,} × {facts.name}")
    assumed = (
        f"machines of {per_node} accelerators",
        f"network {network / GBIT_PER_S:,.0f} Gbit/s per machine",
    )
    forecast = _forecast(workload, engine, best, facts.name, accelerators, machines, "", assumed)
    return _explained(forecast, workload, engine, best, measured)


def _per_node(accelerators: int) -> int:
    if not 1 <= accelerators <= MOST_ACCELERATORS:
        raise InvalidInputError(
            f"{accelerators:,} is not between 1 and {MOST_ACCELERATORS:,}.", where="accelerators"
        )
    per_node = min(ASSUMED_PER_NODE, accelerators)
    if accelerators % per_node:
        raise InvalidInputError(
            f"{accelerators:,} accelerators do not fill machines of {per_node}.",
            where="accelerators",
            todo=f"Give a multiple of {per_node}.",
        )
    return per_node


def _hardware_of(machine: InstanceType, workload: Workload, engine: Engine) -> pd.DataFrame:
    """Return the hardware columns of one machine of the catalog, one row."""
    machines = engine.catalog.machines
    own = (machines["cloud"] == machine.cloud) & (machines["instance_type"] == machine.name)
    row = machines[own].reset_index(drop=True)
    hardware = machine_columns(engine.catalog, row, workload.precision)
    if machine.accelerators < 1:
        raise InvalidInputError(
            f"{machine.name} has a share of one {machine.accelerator}: training on a share cannot "
            "be predicted.",
            todo="Take a machine with whole accelerators.",
        )
    _check_predictable(hardware, machine.accelerator, workload)
    return hardware


def _check_predictable(hardware: pd.DataFrame, accelerator: str, workload: Workload) -> None:
    if not predictable(hardware).all():
        raise PredictionError(
            f"no peak of {accelerator} is published at {workload.precision} or below, so its time "
            "cannot be predicted.",
            todo="Take another accelerator, or another precision.",
        )


def _best(
    workload: Workload, hardware: pd.DataFrame, count: int, engine: Engine, machines: str
) -> BestLayouts:
    """Return the best layout on `count` machines; the error says why there is none."""
    costs = engine.predictor.model.point.costs[kind_of_family(workload.model.family)]
    shortlist = wide_pass(workload, hardware, costs, most_devices=0, memory_margin=0.0, count=count)
    if len(shortlist.jobs):
        return best_layouts(shortlist, engine.predictor)
    if count > 1 and not hardware["multi_node"].all():
        todo = "The network between them is not known: only one of them can be predicted."
    elif shortlist.considered.sum() == 0:
        todo = f"The global batch {workload.global_batch:,} does not divide over them."
    else:
        todo = "Use more of them, accelerators with more memory, or a smaller global batch."
    raise NoFeasiblePlanError(f"the job does not run on {machines}.", todo=todo)


def _forecast(
    workload: Workload,
    engine: Engine,
    best: BestLayouts,
    accelerator: str,
    accelerators: float,
    machines: int,
    instance_type: str,
    assumptions: tuple[str, ...],
) -> Forecast:
    basis = basis_of(best, 0)
    step = step_time_of(best, 0, basis)
    hours = _scaled(step, workload.steps / HOUR_S, "h")
    in_all = _scaled(hours, accelerators, "accelerator-hours")
    return Forecast(
        accelerator=accelerator,
        accelerators=accelerators,
        machines=machines,
        instance_type=instance_type,
        assumptions=(*assumptions, *precision_note(accelerator, workload, engine.catalog)),
        caveats=(*caveats(workload), *whole_effort_note(in_all.value)),
        layout=layout_of(best, 0),
        steps=workload.steps,
        step_time_s=step,
        hours=hours,
        accelerator_hours=in_all,
        parts=parts_of(best, 0),
        memory=memory_of(best, 0),
        mfu=mfu_of(best, 0),
        calibrated=calibrated_of(best, 0, engine, steps=workload.steps),
        own_runs=engine.own_runs,
    )


def _explained(
    forecast: Forecast,
    workload: Workload,
    engine: Engine,
    best: BestLayouts,
    measured: Measured | None,
) -> Forecast:
    if measured is None:
        return forecast
    explained = explanation_of(best, 0, workload, engine, measured)
    return forecast.model_copy(update={"explanation": explained})


def _scaled(estimate: Estimate, factor: float, unit: str) -> Estimate:
    return Estimate(
        value=estimate.value * factor,
        low=estimate.low * factor,
        high=estimate.high * factor,
        unit=unit,
        basis=estimate.basis,
    )
