"""The user's own runs as jobs, described as the search describes its candidates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, get_args

import numpy as np
import pandas as pd

from advisor import zoo
from advisor.core.errors import AdvisorError
from advisor.domain import Precision
from advisor.predictor.calibration import Calibration
from advisor.predictor.costs import kind_of_family
from advisor.predictor.jobs import Jobs
from advisor.predictor.memory import memory_columns, memory_spread, out_of_memory_probability
from advisor.predictor.own_runs import own_runs_table
from advisor.predictor.run_layouts import stated_degrees
from advisor.search.wide import HARDWARE, expected_time, wide_pass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.catalog import Catalog
    from advisor.domain import Profile, Workload
    from advisor.predictor.arrays import FloatArray
    from advisor.predictor.model import Prediction, StepTimeModel
    from advisor.predictor.own_runs import OwnRunsTable

DEFAULT_PRECISION: Final[Precision] = "bf16"


def calibration_of(
    runs: Sequence[Profile], model: StepTimeModel, catalog: Catalog, job: Workload | None = None
) -> Calibration:
    """Compare the user's runs with what would have been predicted for them.

    Runs given twice count once. Nothing is fitted anew.

    Parameters
    ----------
    runs : sequence of Profile
        Measured runs of the user.
    model : StepTimeModel
        What predicts.
    catalog : Catalog
        Knows the accelerators.
    job : Workload, optional
        The job asked for: its model may be one that only its configuration describes.
    """
    table, prediction = described(runs, model, catalog, job)
    return Calibration.fit(table, prediction, model.components)


def described(
    runs: Sequence[Profile], model: StepTimeModel, catalog: Catalog, job: Workload | None = None
) -> tuple[OwnRunsTable, Prediction]:
    """Return runs as the jobs that the search would state, and what is predicted for them.

    Parameters are those of `calibration_of`; runs given twice count once.
    """
    distinct = list({run.content_hash: run for run in runs}.values())
    workloads = [workload_of(run, job) for run in distinct]
    models = [None if workload is None else workload.model for workload in workloads]
    table = own_runs_table(distinct, models, catalog)
    known = dict(zip((run.content_hash for run in distinct), workloads, strict=True))
    blocks = [
        _candidates(run, known[run.content_hash], table.jobs.take(np.array([row])), model)
        for row, run in enumerate(table.profiles)
    ]
    jobs = Jobs.concatenate([table.jobs.take(np.array([], dtype=int)), *blocks])
    prediction = model.predict(jobs)
    risk = out_of_memory_probability(
        memory_columns(jobs).used_bytes, jobs.memory_bytes, memory_spread(jobs)
    )
    expected = expected_time(prediction.step_s, risk)
    chosen = _first(expected, [len(block) for block in blocks])
    return replace(table, jobs=jobs.take(chosen)), prediction.take(chosen)


def workload_of(run: Profile, job: Workload | None = None) -> Workload | None:
    """Return one step of a run as a workload; None where its model is not known."""
    architecture = zoo.named(run.model)
    if architecture is None:
        return None if job is None else _of_job(run, job)
    try:
        return zoo.build_workload(
            architecture,
            steps=1,
            sample_size=run.sample_size,
            global_batch=None if run.global_batch is None else round(run.global_batch),
            precision=precision_of(run.precision) or DEFAULT_PRECISION,
            tuning="lora" if "tuning=lora" in run.parallelism else "pretrain",
        )
    except AdvisorError:  # a batch or sample size that is not possible
        return None


def _of_job(run: Profile, job: Workload) -> Workload | None:
    """Return one step of a run of the job's own model."""
    size = job.model.resolution or job.model.tokens_per_sample
    if run.model != job.model.name or run.sample_size not in (None, size):
        return None
    batch = round(run.global_batch or 0) or job.global_batch
    precision = precision_of(run.precision) or job.precision
    return job.model_copy(
        update={"global_batch": batch, "samples": float(batch), "precision": precision}
    )


def precision_of(text: str) -> Precision | None:
    """Return the precision that a text names, None where it names none.

    >>> precision_of("mixed bf16"), precision_of("FP8 hybrid"), precision_of("amp")
    ('bf16', 'fp8', None)
    """
    lowered = text.lower()
    return next((known for known in reversed(get_args(Precision)) if known in lowered), None)


def _candidates(run: Profile, workload: Workload | None, job: Jobs, model: StepTimeModel) -> Jobs:
    """Return the run's job as the search would state it, in the layouts the run may have had.

    What the run does not say of its layout is what the search would choose: the prediction that
    it is compared with is the one the user would have been given.
    """
    per_node = float(job.devices_per_node[0])
    if workload is None or per_node != int(per_node):
        return job
    hardware = pd.DataFrame({name: getattr(job, name) for name in HARDWARE})
    shortlist = wide_pass(
        workload,
        hardware.assign(multi_node=True),
        model.point.costs[kind_of_family(workload.model.family)],
        most_devices=0,
        memory_margin=0.0,
        count=int(job.nodes[0]),
        stated=stated_degrees(run),
    )
    if not len(shortlist.jobs):  # no layout of the search: that of public tables' runs
        return job
    stack = np.full(len(shortlist.jobs), job.stack_code[0])
    return replace(shortlist.jobs, stack_code=stack)


def _first(expected_s: FloatArray, lengths: Sequence[int]) -> np.ndarray:
    """Return the position of the least time in each block of so many rows."""
    block = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((expected_s, block))
    starts = np.concatenate([[0], np.cumsum(lengths)])[:-1].astype(int)
    return np.asarray(order[starts])
