"""A question as the command line and the Python API ask it: job, own runs, limits, machines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from advisor import zoo
from advisor.advice.advise import advise
from advisor.advice.forecast import (
    current_plan,
    forecast_on_accelerators,
    forecast_on_machines,
)
from advisor.advice.nearest import Measured
from advisor.advice.run_files import runs_of_file
from advisor.advice.trace_runs import RunFacts, run_of_trace
from advisor.core.errors import InvalidInputError
from advisor.domain import Profile
from advisor.traces import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.advice.engine import Engine
    from advisor.advice.job import Job
    from advisor.catalog import Catalog
    from advisor.domain import Advice, Forecast, Workload
    from advisor.search.constraints import Constraints
    from advisor.search.search import SearchOptions
    from advisor.traces.reading import File

    OwnRun = File | Trace | Profile


@dataclass(frozen=True, slots=True)
class Question:
    """A job with the measured runs that were given with it.

    ``runs_option`` is what the caller calls the runs, for messages.
    """

    job: Job
    workload: Workload
    profiles: tuple[Profile, ...] = ()
    runs_option: str = "profiles"

    def advice(
        self,
        engine: Engine,
        *,
        options: SearchOptions | None = None,
        limits: Constraints,
        current: str | None = None,
        explain: Sequence[str] = (),
    ) -> Advice:
        """Return the advice within the limits, beside what runs today; explain picks by name.

        Raises
        ------
        AdvisorError
            If the present machines are not known, the runs cannot be used, or no plan meets the
            limits.
        """
        engine = self.calibrated(engine)
        today = None
        if current:
            today = current_plan(current, self.workload, engine, limits.deadline_h, options)
        return advise(
            self.workload, engine, options=options, limits=limits, current=today, explain=explain
        )

    def forecast(self, engine: Engine, hardware: Hardware, *, explain: bool = False) -> Forecast:
        """Return what the job takes on given hardware, explained if asked for.

        Raises
        ------
        AdvisorError
            If the hardware is not known, the runs cannot be used, or the job does not fit.
        """
        engine = self.calibrated(engine)
        measured = Measured.load(engine) if explain else None
        if hardware.machines is not None:
            return forecast_on_machines(hardware.machines, self.workload, engine, measured)
        return forecast_on_accelerators(
            hardware.gpu or "", hardware.accelerators or 0, self.workload, engine, measured
        )

    def calibrated(self, engine: Engine) -> Engine:
        """Return the engine calibrated by the runs.

        Raises
        ------
        InvalidInputError
            If runs were given and none of them can be used.
        """
        if not self.profiles:
            return engine
        calibrated = engine.calibrated(self.profiles, self.workload)
        runs = calibrated.own_runs
        if runs is not None and not runs.used:
            reasons = "; ".join(dict.fromkeys(f"{run.name}: {run.reason}" for run in runs.unused))
            raise InvalidInputError(
                f"no run can be calibrated by ({reasons}).",
                where=self.runs_option,
                todo="Give what is missing, or leave the file out.",
            )
        return calibrated


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """Machines such as ``4 x p4d.24xlarge``, or so many accelerators of one kind.

    Raises
    ------
    InvalidInputError
        If it is neither or both.
    """

    machines: str | None = None
    gpu: str | None = None
    accelerators: int | None = None

    def __post_init__(self) -> None:
        by_machines = self.machines is not None
        by_accelerators = self.gpu is not None and self.accelerators is not None
        if by_machines == by_accelerators:
            raise InvalidInputError(
                "the hardware is not clear.",
                where="predict",
                todo="Give --machines “4 x p4d.24xlarge” (machines= in Python), or --gpu A100-80GB "
                "--accelerators 32.",
            )


def ask(
    job: Job,
    catalog: Catalog,
    *,
    runs: Iterable[OwnRun] = (),
    machines: str | None = None,
    runs_option: str = "profiles",
) -> Question:
    """Read the runs and complete the job by them.

    A run fills what the job does not say (the model, and where it is of that model the sample
    size and the batch); the job, and `machines`, fill what a file does not say of its run.

    Parameters
    ----------
    job : Job
        What is trained; its model may be empty where a run names it.
    catalog : Catalog
        Knows machines and accelerators.
    runs : iterable of path, bytes, open binary file, Trace or Profile
        Measured runs of the user.
    machines : str, optional
        Where the runs were made, such as ``4 x p4d.24xlarge``.
    runs_option : str
        What the caller calls the runs.

    Raises
    ------
    InvalidInputError
        If a file cannot be read or does not say enough, or nothing says the model.
    """
    given = list(runs)
    facts = RunFacts.of_job(job)
    if given and machines:
        facts = facts.on(machines, catalog)
    profiles = tuple(run for one in given for run in _runs_of(one, facts, catalog))
    completed = _completed(job, profiles)
    return Question(completed, completed.workload(), profiles, runs_option)


def _runs_of(given: OwnRun, facts: RunFacts, catalog: Catalog) -> tuple[Profile, ...]:
    if isinstance(given, Profile):
        return (given,)
    if isinstance(given, Trace):
        return (run_of_trace(given, facts, catalog),)
    return runs_of_file(given, facts, catalog)


def _completed(job: Job, profiles: tuple[Profile, ...]) -> Job:
    if not job.model:
        if not profiles:
            raise InvalidInputError(
                "the model is not given.",
                where="job",
                todo="Give --model (model= in Python), or a trace that names it.",
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
