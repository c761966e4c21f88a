"""What the reader of an answer must know that its numbers do not say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.predictor.effort import whole_effort_factor
from advisor.predictor.hardware import run_precision

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.domain import Workload

# From here on mixtures are trained with their experts spread over the devices.
MANY_EXPERTS: Final = 16
# Less than this share on top is within what nobody plans for.
WORTH_SAYING: Final = 0.05


def caveats(workload: Workload) -> tuple[str, ...]:
    """Return what about the job the prediction does not model, one sentence each."""
    experts = workload.model.experts
    if experts < MANY_EXPERTS:
        return ()
    said = f"{experts:,} experts: spreading them over accelerators (expert parallelism) is not"
    return (f"{said} modelled yet, so times and costs are likely far too high",)


def precision_note(accelerator: str, workload: Workload, catalog: Catalog) -> tuple[str, ...]:
    """Say where an accelerator has not the precision asked for, and what it runs instead."""
    run = run_precision(catalog.accelerators, accelerator, workload.precision)
    if run == workload.precision:
        return ()
    return (f"{run} instead of {workload.precision}, which {accelerator} does not have",)


def whole_effort_note(accelerator_hours: float) -> tuple[str, ...]:
    """Say what efforts of this size took beyond the hours of their running steps.

    >>> whole_effort_note(1e6)[0][:78]
    'running steps alone: published efforts of this size took about 23 % longer in '
    """
    more = float(whole_effort_factor(accelerator_hours)) - 1
    if more < WORTH_SAYING:
        return ()
    said = (
        f"running steps alone: published efforts of this size took about {more:.0%} longer in all "
        "(restarts, evaluation, work done again); an allowance for restarts adds it"
    )
    return (said.replace("%", " %"),)
