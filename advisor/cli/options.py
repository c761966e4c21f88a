"""How the options of a command become a job, its limits and the search's options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.advice.job import AMOUNTS, Job
from advisor.advice.limits import (
    USUAL_CLOUDS,
    clouds_named,
    devices_named,
    markets_named,
    places_named,
)
from advisor.search.constraints import NO_COMMITMENT, Constraints
from advisor.search.search import SearchOptions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from advisor.catalog import Catalog
    from advisor.domain import Market


def job_of(options: argparse.Namespace) -> Job:
    """Return the job of the options."""
    unit = next(name for name in AMOUNTS if getattr(options, name) is not None)
    return Job(
        model=options.model or "",
        amount=getattr(options, unit),
        unit=unit,
        dataset_samples=options.dataset_samples,
        sample_size=options.sample_size,
        global_batch=options.global_batch,
        precision=options.precision,
        tuning=options.finetune or "pretrain",
        lora_rank=options.lora_rank,
    )


def search_options_of(options: argparse.Namespace) -> SearchOptions:
    """Return the search options of the options."""
    return SearchOptions(
        most_accelerators=options.max_accelerators,
        memory_margin=options.memory_margin,
        retry_share=options.retry_allowance,
    )


def limits_of(options: argparse.Namespace, catalog: Catalog) -> Constraints:
    """Return the limits of the options.

    Raises
    ------
    UnknownNameError
        If a cloud, region, accelerator or market is unknown; offers the nearest.
    """
    return Constraints(
        **named_limits_of(options, catalog),
        most_machines=options.max_machines,
        deadline_h=options.deadline_h,
        budget_usd=options.budget_usd,
        chance=options.chance,
    )


def named_limits_of(
    options: argparse.Namespace,
    catalog: Catalog,
    default_markets: frozenset[Market] | None = NO_COMMITMENT,
    default_clouds: frozenset[str] | None = frozenset(USUAL_CLOUDS),
) -> dict[str, Any]:
    """Return the limits that are sets of names: clouds, places, devices, markets."""
    return {
        "clouds": clouds_named(_names(options.cloud), catalog, default_clouds),
        **places_named(_names(options.region), catalog),
        **devices_named(_names(options.gpu), catalog),
        "markets": markets_named(_names(options.market), default_markets),
    }


def _names(given: Iterable[str] | None) -> list[str]:
    return [name.strip() for text in given or () for name in text.split(",") if name.strip()]
