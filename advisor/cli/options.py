"""How the options of a command become a job, its limits and the search's options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

from advisor.advice.job import AMOUNTS, Job
from advisor.core.errors import UnknownNameError
from advisor.domain import Market
from advisor.search.constraints import DEFAULT_CHANCE, NO_COMMITMENT, Constraints
from advisor.search.search import SearchOptions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from advisor.catalog import Catalog

MARKETS: Final = {market.replace("_", "-"): market for market in get_args(Market)}


def job_of(options: argparse.Namespace) -> Job:
    """Return the job of the options."""
    unit = next(name for name in AMOUNTS if getattr(options, name) is not None)
    return Job(
        model=options.model,
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


def limits_of(
    options: argparse.Namespace,
    catalog: Catalog,
    default_markets: frozenset[Market] | None = NO_COMMITMENT,
) -> Constraints:
    """Return the limits of the options; names that the catalog does not know are refused.

    Raises
    ------
    UnknownNameError
        If a cloud, region, accelerator or market is unknown; offers the nearest.
    """
    places = _names(options.region)
    devices = _names(options.gpu)
    return Constraints(
        **names_of(places, devices, catalog),
        clouds=_known("cloud", _names(options.cloud), catalog.offers["cloud"].unique()),
        markets=_markets(_names(options.market)) or default_markets,
        most_machines=getattr(options, "max_machines", None),
        deadline_h=getattr(options, "deadline_h", None),
        budget_usd=getattr(options, "budget_usd", None),
        chance=getattr(options, "chance", DEFAULT_CHANCE),
    )


def names_of(
    places: Sequence[str] | None, devices: Sequence[str] | None, catalog: Catalog
) -> dict[str, Any]:
    """Split places into areas and regions, devices into families and accelerators."""
    areas = sorted(catalog.offers["area"].unique())
    families = sorted(catalog.accelerators["family"].unique())
    by_folded = {area.casefold(): area for area in areas}
    family_of = {family.casefold(): family for family in families}
    split: dict[str, Any] = {}
    if places:
        in_areas = {by_folded[p.casefold()] for p in places if p.casefold() in by_folded}
        regions = [p for p in places if p.casefold() not in by_folded]
        split["areas"] = frozenset(in_areas) or None
        split["regions"] = _known("region", regions, catalog.offers["region"].unique())
    if devices:
        found = {family_of[d.casefold()] for d in devices if d.casefold() in family_of}
        named = [d for d in devices if d.casefold() not in family_of]
        split["families"] = frozenset(found) or None
        split["accelerators"] = frozenset(map(catalog.accelerator_name, named)) or None
    return split


def _names(given: Iterable[str] | None) -> list[str]:
    return [name.strip() for text in given or () for name in text.split(",") if name.strip()]


def _known(kind: str, given: Sequence[str], known: Iterable[str]) -> frozenset[str] | None:
    if not given:
        return None
    by_folded = {str(name).casefold(): str(name) for name in known}
    for name in given:
        if name.casefold() not in by_folded:
            raise UnknownNameError(kind, name, by_folded.values())
    return frozenset(by_folded[name.casefold()] for name in given)


def _markets(given: Sequence[str]) -> frozenset[Market] | None:
    found = _known("market", [name.replace("_", "-") for name in given], MARKETS)
    return None if found is None else frozenset(MARKETS[name] for name in found)
