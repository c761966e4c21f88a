"""Limits as a person names them: places and devices at two levels, markets with dashes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

from advisor.advice.quota_text import read_quotas
from advisor.catalog.places import countries_named
from advisor.core.errors import UnknownNameError
from advisor.domain import Market
from advisor.domain.hardware import OWN_CLOUD
from advisor.search.constraints import NO_COMMITMENT, Constraints

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from advisor.catalog import Catalog

Names = frozenset[str] | None
# Small clouds are priced from one list of early 2025: they are searched when asked for.
USUAL_CLOUDS: Final = ("aws", "gcp", "azure")
ANY_CLOUD: Final = "any"
MARKET_NAMES: Final = {market.replace("_", "-"): market for market in get_args(Market)}
OFFER_COLUMNS: Final = ("cloud", "instance_type", "region", "market", "accelerator",
                        "accelerators", "usd_per_h", "usd_per_accelerator_h", "list_usd_per_h",
                        "discount_percent", "available", "as_of", "flags", "source")  # fmt: skip


def usual_clouds(catalog: Catalog) -> frozenset[str]:
    """Return the clouds searched where none are named: the usual ones and own machines."""
    return frozenset(USUAL_CLOUDS) | ({OWN_CLOUD} & set(catalog.offers["cloud"].cat.categories))


def limits_named(
    catalog: Catalog,
    *,
    clouds: Sequence[str] = (),
    regions: Sequence[str] = (),
    gpus: Sequence[str] = (),
    markets: Sequence[str] = (),
    default_markets: frozenset[Market] | None = NO_COMMITMENT,
    usual: bool = True,
) -> dict[str, Any]:
    """Return the limits of `Constraints` that are sets of names: places, devices, markets.

    No names of clouds are the usual clouds, or any where not `usual`.

    Raises
    ------
    UnknownNameError
        If a name is unknown; offers the nearest.
    """
    return {
        "clouds": clouds_named(clouds, catalog, usual=usual),
        **places_named(regions, catalog),
        **devices_named(gpus, catalog),
        "markets": markets_named(markets, default_markets),
    }


def constraints_named(
    catalog: Catalog,
    *,
    clouds: Sequence[str] = (),
    regions: Sequence[str] = (),
    gpus: Sequence[str] = (),
    markets: Sequence[str] = (),
    residency: Sequence[str] = (),
    quotas: Sequence[str] = (),
    **others: Any,
) -> tuple[Constraints, tuple[str, ...]]:
    """Return the limits that a person names, and notes on what of them cannot be used.

    Parameters
    ----------
    residency : sequence of str
        Countries, ``EU`` or ``EEA``, in which the machines must stand.
    quotas : sequence of str
        Texts as `advisor.advice.quota_text.read_quotas` reads them.
    others : Any
        Limits of `Constraints` that are numbers or flags.

    Raises
    ------
    InvalidInputError
        If a name is unknown, or a text or number cannot be used.
    """
    read = [read_quotas(text, catalog) for text in quotas]
    limits = Constraints(
        **limits_named(catalog, clouds=clouds, regions=regions, gpus=gpus, markets=markets),
        countries=countries_named(residency, catalog),
        quotas=tuple(quota for one in read for quota in one.quotas),
        **others,
    )
    unknown = [name for one in read for name in one.unknown]
    if not unknown:
        return limits, ()
    return limits, (f"Quotas of machines that the catalog does not know: {', '.join(unknown)}.",)


def clouds_named(names: Sequence[str], catalog: Catalog, *, usual: bool = True) -> Names:
    """Return the clouds of these names in any case, None for “any”.

    No names are the usual clouds, or any where not `usual`.

    Raises
    ------
    UnknownNameError
        If a name is unknown; offers the nearest. The same holds for the other readers.
    """
    if ANY_CLOUD in (name.casefold() for name in names):
        return None
    default = usual_clouds(catalog) if usual else None
    return _known("cloud", names, catalog.offers["cloud"].unique()) or default


def places_named(names: Sequence[str], catalog: Catalog) -> dict[str, Names]:
    """Return ``areas`` and ``regions`` of names that may be either: “US”, “us-east-1”.

    Limits are joined by *and*, places by *or*: an area beside a region becomes its regions.
    """
    offers = catalog.offers
    areas, regions = _split(names, offers["area"].unique())
    named = _known("region", regions, [*offers["region"].unique(), *offers["area"].unique()])
    if areas and named:
        inside = offers["region"][offers["area"].isin(areas)].astype(str)
        return {"areas": None, "regions": named | frozenset(inside)}
    return {"areas": areas, "regions": named}


def devices_named(names: Sequence[str], catalog: Catalog) -> dict[str, Names]:
    """Return ``families`` and ``accelerators`` of names that may be either: “Hopper”, “H100”.

    A family beside an accelerator becomes its accelerators, as with places.
    """
    facts = catalog.accelerators
    families, devices = _split(names, facts["family"].unique())
    named = frozenset(catalog.accelerator_name(name) for name in devices) or None
    if families and named:
        inside = facts.index[facts["family"].isin(families)].astype(str)
        return {"families": None, "accelerators": named | frozenset(inside)}
    return {"families": families, "accelerators": named}


def markets_named(
    names: Sequence[str], default: frozenset[Market] | None = NO_COMMITMENT
) -> frozenset[Market] | None:
    """Return the markets of these names, “on-demand” or “on_demand”; `default` for no names."""
    found = _known("market", [name.replace("_", "-") for name in names], MARKET_NAMES)
    return default if found is None else frozenset(MARKET_NAMES[name] for name in found)


def listed_offers(
    catalog: Catalog, *, clouds: Names, areas: Names, regions: Names, families: Names,
    accelerators: Names, markets: frozenset[Market] | None,
) -> pd.DataFrame:  # fmt: skip
    """Return the offers within the limits, cheapest per accelerator first.

    Returns
    -------
    DataFrame
        Columns `OFFER_COLUMNS`; ``as_of`` is NaT where the source has no date.
    """
    offers = catalog.offers.copy()
    offers["family"] = offers["accelerator"].map(catalog.accelerators["family"])
    offers["usd_per_accelerator_h"] = offers["usd_per_h"] / offers["accelerators"]
    for wanted, column in (
        (clouds, "cloud"), (areas, "area"), (regions, "region"), (families, "family"),
        (accelerators, "accelerator"), (markets, "market"),
    ):  # fmt: skip
        if wanted is not None:
            offers = offers[offers[column].isin(wanted)]
    order = ["usd_per_accelerator_h", "cloud", "instance_type", "region", "market"]
    return offers.sort_values(order)[list(OFFER_COLUMNS)]


def _split(names: Sequence[str], upper: Iterable[str]) -> tuple[Names, list[str]]:
    """Return the names of the upper level, in its spelling, and the others."""
    by_folded = {str(name).casefold(): str(name) for name in upper}
    found = frozenset(by_folded[n.casefold()] for n in names if n.casefold() in by_folded)
    return found or None, [name for name in names if name.casefold() not in by_folded]


def _known(kind: str, names: Sequence[str], known: Iterable[str]) -> Names:
    if not names:
        return None
    by_folded = {str(name).casefold(): str(name) for name in known}
    for name in names:
        if name.casefold() not in by_folded:
            raise UnknownNameError(kind, name, by_folded.values())
    return frozenset(by_folded[name.casefold()] for name in names)
