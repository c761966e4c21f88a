"""A trace or log of a run of a saved plan, as the measured run that is recorded with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from advisor import zoo
from advisor.advice.run_files import runs_of_file
from advisor.advice.trace_runs import RunFacts
from advisor.core.errors import InvalidInputError, UnknownNameError

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.domain import Profile
    from advisor.store import SavedPlan
    from advisor.traces.reading import File

# Form and memory of a card: logs leave them out, so that they tell no other accelerator.
_CARD: Final = re.compile(r"-(?:PCIe|SXM\d*|NVL|\d+GB)\b")


def run_of_plan(file: File, saved: SavedPlan, catalog: Catalog, *, name: str = "") -> Profile:
    """Return the run that a file measures; the plan fills what the file does not say.

    Parameters
    ----------
    file : path, bytes or open binary file
        A trace, a log, a folder or archive of one job, or a table with one run.
    saved : SavedPlan
        What was run.
    catalog : Catalog
        Knows the accelerators.
    name : str
        Name of the file for messages, where `file` has none.

    Raises
    ------
    InvalidInputError
        If the file cannot be read, does not say enough, holds several runs, or is of another
        model, batch, accelerator or number of them than the plan.
    """
    runs = runs_of_file(file, _facts_of(saved), catalog, name=name)
    if len(runs) != 1:
        raise InvalidInputError(
            f"the file holds {len(runs)} runs.", where=name, todo="Give the file of one run."
        )
    (run,) = runs
    _check_same(run, saved, name)
    return run


def _facts_of(saved: SavedPlan) -> RunFacts:
    workload, (group, *others) = saved.workload, saved.plan.cluster.groups
    model = workload.model
    return RunFacts(
        model=_known(model.name),
        sample_size=model.resolution or model.tokens_per_sample,
        global_batch=workload.global_batch,
        precision=workload.precision,
        tuning=workload.tuning,
        accelerator=group.accelerator,
        accelerators=saved.plan.cluster.accelerators,
        nodes=group.count if not others else None,
        instance_type=group.instance_type,
    )


def _known(name: str) -> str | None:
    """Return the name of a model of the zoo; one of a configuration the file has to name."""
    try:
        zoo.resolve(name, files=False)
    except (InvalidInputError, UnknownNameError):
        return None
    return name


def _check_same(run: Profile, saved: SavedPlan, where: str) -> None:
    """Refuse a run of something else: its step would be held against this prediction."""
    plan, workload = saved.plan, saved.workload
    ran, planned = zoo.named(run.model), zoo.named(workload.model.name)
    chips = [_chip(group.accelerator) for group in plan.cluster.groups]
    chip = _chip(run.accelerator)
    for what, measured, wanted in (
        ("model", ran.name if ran else run.model, planned.name if planned else workload.model.name),
        ("accelerator", chip, chip if chip in chips else " and ".join(dict.fromkeys(chips))),
        ("global batch", run.global_batch, workload.global_batch),
        ("number of accelerators", run.accelerators, plan.cluster.accelerators),
    ):
        if measured != wanted:
            raise InvalidInputError(
                f"this run is not of the plan: its {what} is {_shown(measured)}, that of the plan "
                f"{_shown(wanted)}.",
                where=where,
                todo="Give the run of this plan, or keep this one on Profiles.",
            )


def _chip(accelerator: str) -> str:
    return _CARD.sub("", accelerator)


def _shown(value: object) -> str:
    return f"{value:,g}" if isinstance(value, int | float) else str(value)
