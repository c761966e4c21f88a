"""What a job takes on machines that are given, by name or by accelerator."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.advice.entries import (
    basis_of,
    layout_of,
    memory_of,
    mfu_of,
    parts_of,
    step_time_of,
)
from advisor.advice.plans import make_plan
from advisor.core.errors import InvalidInputError, NoFeasiblePlanError
from advisor.core.units import GBIT_PER_S, HOUR_S
from advisor.domain import Estimate, Forecast, InstanceType, Workload
from advisor.predictor.costs import kind_of_family
from advisor.predictor.hardware import usual_link, usual_network
from advisor.search.exact import BestLayouts, best_layouts
from advisor.search.hardware import machine_columns
from advisor.search.search import Machines, SearchOptions, evaluate
from advisor.search.wide import wide_pass

if TYPE_CHECKING:
    from advisor.advice.engine import Engine
    from advisor.domain import Plan

ASSUMED_PER_NODE: Final = 8
_MACHINES: Final = re.compile(r"^\s*(\d+)\s*[x×*]?\s*([A-Za-z].*?)\s*$")


def parse_machines(text: str, engine: Engine) -> tuple[int, InstanceType]:
    """Read ``4 x p4d.24xlarge``, also with a cloud: ``2 × azure/Standard_NC24s_v3``.

    Raises
    ------
    InvalidInputError
        If the text has another form, or the machine is unknown or ambiguous.
    """
    found = _MACHINES.match(text)
    count = int(found[1]) if found else 0
    if found is None or not 1 <= count <= 20_000:
        raise InvalidInputError(
            f"“{text}” is not a number of machines.",
            todo="Write the count and the instance type: 4 x p4d.24xlarge.",
        )
    cloud, slash, name = found[2].partition("/")
    catalog = engine.catalog
    return count, catalog.machine(cloud, name) if slash else catalog.find_machine(found[2])


def current_plan(
    text: str, workload: Workload, engine: Engine, deadline_h: float | None = None
) -> Plan:
    """Return the plan of what the user runs on today, at its lowest on-demand price.

    What runs today fits, so no memory margin is asked of it.

    Raises
    ------
    InvalidInputError, NoFeasiblePlanError
        If the machines are unknown, or the job cannot run on them.
    """
    count, machine = parse_machines(text, engine)
    only = Machines(cloud=machine.cloud, instance_type=machine.name, count=count)
    options = SearchOptions(memory_margin=0.0)
    evaluated = evaluate(workload, engine.catalog, engine.predictor, options, only)
    if not len(evaluated.plans):
        raise _does_not_run(workload, f"{count} × {machine.name}", evaluated.considered)
    plans = evaluated.plans
    on_demand = np.flatnonzero(plans["market"] == "on_demand")
    rows = on_demand if len(on_demand) else np.arange(len(plans))
    cheapest = rows[np.argmin(plans["cost_usd"].to_numpy()[rows])]
    return make_plan(evaluated, int(cheapest), engine, deadline_h)


def forecast_on_machines(text: str, workload: Workload, engine: Engine) -> Forecast:
    """Predict the job on machines of the catalog, such as ``4 x p4d.24xlarge``."""
    count, machine = parse_machines(text, engine)
    catalog = engine.catalog
    row = catalog.machines[
        (catalog.machines["cloud"] == machine.cloud)
        & (catalog.machines["instance_type"] == machine.name)
    ].reset_index(drop=True)
    hardware = machine_columns(catalog, row, workload.precision)
    best = _best(workload, hardware, count, engine)
    if not len(best.machines):
        raise _does_not_run(workload, f"{count} × {machine.name}", 1)
    return _forecast(
        workload, best, machine.accelerator, count * machine.accelerators, count, machine.name, ()
    )


def forecast_on_accelerators(
    name: str, accelerators: int, workload: Workload, engine: Engine
) -> Forecast:
    """Predict the job on so many accelerators, in machines of eight with their usual network."""
    facts = engine.catalog.accelerator(name)
    per_node = min(ASSUMED_PER_NODE, accelerators)
    if accelerators % per_node:
        raise InvalidInputError(
            f"{accelerators:,} accelerators do not fill machines of {per_node}.",
            where="accelerators",
            todo=f"Give a multiple of {per_node}.",
        )
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
    best = _best(workload, hardware, accelerators // per_node, engine)
    if not len(best.machines):
        raise _does_not_run(workload, f"{accelerators} × {facts.name}", 1)
    assumed = (
        f"machines of {per_node} accelerators",
        f"network {network / GBIT_PER_S:,.0f} Gbit/s per machine",
    )
    return _forecast(
        workload, best, facts.name, accelerators, accelerators // per_node, "", assumed
    )


def _best(workload: Workload, hardware: pd.DataFrame, count: int, engine: Engine) -> BestLayouts:
    costs = engine.predictor.model.point.costs[kind_of_family(workload.model.family)]
    shortlist = wide_pass(workload, hardware, costs, most_devices=0, memory_margin=0.0, count=count)
    return best_layouts(shortlist, engine.predictor)


def _forecast(
    workload: Workload,
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
    return Forecast(
        accelerator=accelerator,
        accelerators=accelerators,
        machines=machines,
        instance_type=instance_type,
        assumptions=assumptions,
        layout=layout_of(best, 0),
        steps=workload.steps,
        step_time_s=step,
        hours=hours,
        accelerator_hours=_scaled(hours, accelerators, "accelerator-hours"),
        parts=parts_of(best, 0),
        memory=memory_of(best, 0),
        mfu=mfu_of(best, 0),
    )


def _scaled(estimate: Estimate, factor: float, unit: str) -> Estimate:
    return Estimate(
        value=estimate.value * factor,
        low=estimate.low * factor,
        high=estimate.high * factor,
        unit=unit,
        basis=estimate.basis,
    )


def _does_not_run(workload: Workload, machines: str, considered: int) -> NoFeasiblePlanError:
    if considered == 0 or not math.isfinite(considered):
        todo = f"The global batch {workload.global_batch:,} does not divide over them."
    else:
        todo = "Use more of them, accelerators with more memory, or a smaller global batch."
    return NoFeasiblePlanError(f"the job does not run on {machines}.", todo=todo)
