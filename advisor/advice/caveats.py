"""What the reader of an answer must know that its numbers do not say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.predictor.hardware import run_precision

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.domain import Workload

# From here on mixtures are trained with their experts spread over the devices.
MANY_EXPERTS: Final = 16


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
