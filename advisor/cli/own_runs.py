"""The user's own runs behind ``--profile``: read, used to fill the job, kept if asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from advisor import zoo
from advisor.advice.run_files import runs_of_file
from advisor.advice.trace_runs import RunFacts
from advisor.cli.options import job_of
from advisor.core.errors import InvalidInputError
from advisor.store import Store

if TYPE_CHECKING:
    import argparse

    from advisor.advice.engine import Engine
    from advisor.advice.job import Job
    from advisor.catalog import Catalog
    from advisor.domain import Profile, Workload


@dataclass(frozen=True, slots=True)
class GivenRuns:
    """The job asked for, and the measured runs given with it."""

    job: Job
    profiles: tuple[Profile, ...]

    def calibrated(self, engine: Engine, workload: Workload) -> Engine:
        """Return the engine calibrated by the runs.

        Raises
        ------
        InvalidInputError
            If runs were given and none of them can be used.
        """
        if not self.profiles:
            return engine
        calibrated = engine.calibrated(self.profiles, workload)
        runs = calibrated.own_runs
        if runs is not None and not runs.used:
            reasons = "; ".join(dict.fromkeys(f"{run.name}: {run.reason}" for run in runs.unused))
            raise InvalidInputError(
                f"no run can be calibrated by ({reasons}).",
                where="--profile",
                todo="Give what is missing, or leave the file out.",
            )
        return calibrated


def given_runs(options: argparse.Namespace, catalog: Catalog, machines: str | None) -> GivenRuns:
    """Read the files of ``--profile`` and complete the job by them.

    A file fills what the options do not say of the job (the model, and of a run of that model
    the sample size and the batch); the options, and `machines`, fill what a file does not say
    of its run.

    Raises
    ------
    InvalidInputError
        If a file cannot be read or does not say enough, or nothing says the model.
    """
    job = job_of(options)
    facts = RunFacts.of_job(job)
    if options.profile and machines:
        facts = facts.on(machines, catalog)
    profiles = tuple(
        run for file in options.profile or () for run in runs_of_file(file, facts, catalog)
    )
    if options.save_profiles and profiles:
        with Store.open() as store:
            store.add(profiles)
    return GivenRuns(_completed(job, profiles), profiles)


def _completed(job: Job, profiles: tuple[Profile, ...]) -> Job:
    if not job.model:
        if not profiles:
            raise InvalidInputError(
                "the model is not given.",
                where="job",
                todo="Give --model, or a trace that names it with --profile.",
            )
        job = replace(job, model=profiles[0].model)
    name = zoo.resolve(job.model).name
    like = next((run for run in profiles if _name_of(run) == name), None)
    if like is None:
        return job
    batch = None if like.global_batch is None else round(like.global_batch)
    return replace(
        job,
        sample_size=job.sample_size or like.sample_size,
        global_batch=job.global_batch or batch,
    )


def _name_of(run: Profile) -> str:
    architecture = zoo.named(run.model)
    return run.model if architecture is None else architecture.name
