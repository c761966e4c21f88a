"""Steady-state accelerator-hours of a described job: the layout that the search would choose."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.core.errors import NoFeasiblePlanError
from advisor.core.units import DAY_S, HOUR_S
from advisor.predictor.costs import kind_of_family
from advisor.predictor.frameworks import TUNED
from advisor.predictor.hardware import usual_link, usual_network
from advisor.predictor.preferences import answers_s, scoring_share
from advisor.predictor.runs import STACK_CODES
from advisor.search.exact import best_layouts
from advisor.search.hardware import machine_columns
from advisor.search.wide import wide_pass

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.domain import Accelerator, Workload
    from advisor.predictor import Predictor
    from advisor.search.wide import Shortlist
    from benchmarks.boards.claim_jobs import ClaimJob

PER_NODE: Final = 8
# Who does not say how many devices trained has taken enough to be done in time: large efforts
# took weeks to two months (Llama 3 405B and DeepSeek-V3 54 days, OPT-175B 57, PaLM 64).
LONGEST_S: Final = 60 * DAY_S
SHORTEST_S: Final = 14 * DAY_S
MOST_DEVICES: Final = 16_384
# and not so many that they mostly wait for each other.
MOST_WASTE: Final = 1.25
# The description says that the job ran: where our count of memory says that it does not fit,
# something of it was kept elsewhere (offloading), and the least that is over is taken.
ANYTHING_FITS: Final = -20.0


@dataclass(frozen=True, slots=True)
class SteadyState:
    """A predicted job without anything that interrupts it.

    ``step_s`` is the step, ``log_sigma`` the spread of its logarithm.
    """

    accelerators: int
    steps: int
    step_s: float
    log_sigma: float

    @property
    def accelerator_hours(self) -> float:
        """Accelerators times hours."""
        return self.step_s * self.steps * self.accelerators / HOUR_S


def steady_state(job: ClaimJob, predictor: Predictor, catalog: Catalog) -> SteadyState:
    """Predict a job on the accelerators stated, or on as many as a month takes.

    Raises
    ------
    NoFeasiblePlanError
        If no layout is legal on them.
    """
    if job.accelerators is not None:
        return _on(job, job.accelerators, predictor, catalog)
    possible: list[SteadyState] = []
    count = PER_NODE
    while count <= MOST_DEVICES:
        found = _on(job, count, predictor, catalog)
        seconds = found.step_s * found.steps
        if seconds <= LONGEST_S:
            if possible and seconds < SHORTEST_S:
                break
            possible.append(found)
        count *= 2
    return _between(possible or [found])


def _between(possible: list[SteadyState]) -> SteadyState:
    """Return the middle of the counts that are sensible, with the mean of their hours."""
    least = min(one.accelerator_hours for one in possible)
    possible = [one for one in possible if one.accelerator_hours <= MOST_WASTE * least]
    middle = possible[(len(possible) - 1) // 2]
    hours = np.array([one.accelerator_hours for one in possible])
    mean = math.exp(float(np.mean(np.log(hours))))
    spread = math.hypot(middle.log_sigma, float(np.std(np.log(hours))))
    step = middle.step_s * mean / middle.accelerator_hours
    return replace(middle, step_s=step, log_sigma=spread)


def _on(job: ClaimJob, devices: int, predictor: Predictor, catalog: Catalog) -> SteadyState:
    per_node = math.gcd(devices, PER_NODE)
    hardware = _hardware(job.accelerator, per_node, job.workload, catalog)
    workload = job.workload
    shortlist = _shortlist(workload, hardware, devices // per_node, predictor)
    if not len(shortlist.jobs):
        workload = _divisible(workload, devices)
        shortlist = _shortlist(workload, hardware, devices // per_node, predictor)
    if not len(shortlist.jobs):
        raise NoFeasiblePlanError(
            f"no layout is legal on {devices:,} accelerators.", todo="State another batch."
        )
    predicted = [_step(shortlist, stack, job, predictor) for stack in _stacks(job)]
    logs = np.log([step for step, _ in predicted])
    sigma = max(spread for _, spread in predicted)
    return SteadyState(
        accelerators=devices,
        steps=workload.steps,
        step_s=math.exp(float(logs.mean())),
        log_sigma=math.hypot(sigma, float(logs.std())),
    )


def _stacks(job: ClaimJob) -> tuple[float | None, ...]:
    """Return the software to predict under: None is the usual one.

    What was written by hand for one network is faster than a framework and slower than a
    benchmark submission; nobody has measured it for the store, so it is taken between them.
    """
    return (None, STACK_CODES["tuned"]) if job.by_hand else (None,)


def _step(
    shortlist: Shortlist, stack: float | None, job: ClaimJob, predictor: Predictor
) -> tuple[float, float]:
    """Return the step of the best layout [s] and the spread of its logarithm."""
    if stack is not None:
        # What was tuned stands under one name in the store, whichever framework it came in.
        tuned = np.full(len(shortlist.jobs), TUNED)
        jobs = replace(
            shortlist.jobs,
            stack_code=np.full(len(shortlist.jobs), stack),
            framework_code=tuned,
        )
        shortlist = replace(shortlist, jobs=jobs)
    best = best_layouts(shortlist, predictor)
    step = best.prediction.step_s
    if job.preferences:
        step = step * (1 + scoring_share(best.jobs)) + answers_s(best.jobs)
    return float(step[0]), float(best.prediction.log_sigma[0])


def _hardware(
    accelerator: Accelerator, per_node: int, workload: Workload, catalog: Catalog
) -> pd.DataFrame:
    facts = catalog.accelerators.loc[[accelerator.name]]
    machine = pd.DataFrame(
        {
            "accelerator": accelerator.name,
            "accelerators": float(per_node),
            "accelerator_memory_bytes": accelerator.memory_bytes,
            "link_bytes_per_s": usual_link(facts),
            "network_bytes_per_s": usual_network(facts["year"].to_numpy(float)),
        }
    )
    return machine_columns(catalog, machine, workload.precision)


def _shortlist(
    workload: Workload, hardware: pd.DataFrame, machines: int, predictor: Predictor
) -> Shortlist:
    costs = predictor.model.point.costs[kind_of_family(workload.model.family)]
    found = wide_pass(workload, hardware, costs, most_devices=0, memory_margin=0.0, count=machines)
    if len(found.jobs):
        return found
    return wide_pass(workload, hardware, costs, most_devices=0, memory_margin=ANYTHING_FITS,
                     count=machines)  # fmt: skip


def _divisible(workload: Workload, devices: int) -> Workload:
    """Return the workload with the nearest batch that so many devices can share."""
    batch = devices * max(1, round(workload.global_batch / devices))
    return workload.model_copy(update={"global_batch": batch})
