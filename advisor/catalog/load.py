"""Put the catalog together from its providers."""

from __future__ import annotations

import dataclasses
import datetime as dt
import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Final, get_args

import pandas as pd

from advisor.catalog import trust
from advisor.catalog.catalog import Catalog
from advisor.catalog.discounts import discounted
from advisor.catalog.names import lookup_table
from advisor.catalog.own.inline import all_named
from advisor.catalog.own.known import known
from advisor.catalog.provider import PROVIDERS
from advisor.catalog.providers.own import tables_of
from advisor.catalog.regions import region_area
from advisor.core.errors import CatalogError
from advisor.domain.hardware import Market

if TYPE_CHECKING:
    from advisor.catalog.tables import CatalogTables


DEFAULT_PROVIDERS: Final = ("snapshot", "own")
# Tables of the user's terms.
TERMS: Final = ("discounts", "credits", "rates", "carbon")


def load(
    providers: tuple[str, ...] = DEFAULT_PROVIDERS,
    today: dt.date | None = None,
    own: tuple[str, ...] = (),
) -> Catalog:
    """Load the catalog; the same arguments give the same object until a provider's data change.

    Parameters
    ----------
    providers : tuple of str
        Names of registered providers. The first must work; where a later one fails, its offers
        stay as the earlier ones had them and `Catalog.notes` says so.
    today : datetime.date, optional
        The day that the age of prices is counted to; today by default.
    own : tuple of str
        Machines of the user beside those of their list: ``2 x 8 H100 at 0.9``.

    Raises
    ------
    CatalogError
        If the first provider fails.
    InvalidInputError
        If own machines cannot be understood.
    """
    day = today or dt.datetime.now(tz=dt.UTC).date()
    return _load(providers, day, stamp(providers), own)


def stamp(providers: tuple[str, ...] = DEFAULT_PROVIDERS) -> str:
    """Return what differs where `load` would give another catalog; cheap."""
    return "|".join(PROVIDERS[name]().stamp() for name in providers)


@lru_cache(maxsize=8)
def _load(providers: tuple[str, ...], today: dt.date, _: str, own: tuple[str, ...] = ()) -> Catalog:
    tables = PROVIDERS[providers[0]]().fetch()
    notes: list[str] = []
    for name in providers[1:]:
        try:
            fetched = PROVIDERS[name]().fetch()
        except CatalogError as error:
            newest = _newest(tables.offers)
            notes.append(f"{name}: {error} The prices of {newest} stay in use.")
        else:
            tables = _laid_over(fetched, tables)
    if own:
        tables = _laid_over(tables_of(all_named(own, known())), tables)
    return assemble(tables, today, notes)


def assemble(tables: CatalogTables, today: dt.date, notes: list[str] | None = None) -> Catalog:
    """Check that the tables fit each other, flag the offers, and make the catalog."""
    notes = list(notes or ())
    offers = tables.offers
    free = ~(offers["usd_per_h"] > 0)
    if free.any():
        # Price interfaces answer 0 for what they do not know; unknown is not free.
        notes.append(f"Offers left out because their price is not positive: {int(free.sum())}.")
        offers = offers[~free]
    known = set(get_args(Market))
    strange = sorted(set(offers["market"].unique()) - known)
    if strange:
        raise CatalogError(f"unknown market “{strange[0]}”.", where="offers")
    offers = trust.with_flags(_with_machines(offers, tables.machines), today)
    areas = {region: region_area(region) for region in offers["region"].unique()}
    offers["area"] = offers["region"].astype(object).map(areas).astype("category")
    for column in ("available", "block_h"):
        if column not in offers:
            offers[column] = float("nan")
    offers = discounted(offers, tables.discounts)
    _check_accelerators(tables)
    aliases = zip(tables.aliases["alias"], tables.aliases["name"], strict=True)
    return Catalog(
        tables=dataclasses.replace(tables, offers=offers.reset_index(drop=True)),
        hash=tables.hash,
        as_of=_newest(offers),
        notes=tuple(notes),
        spellings=lookup_table(tables.accelerators.index, aliases),
    )


def _with_machines(offers: pd.DataFrame, machines: pd.DataFrame) -> pd.DataFrame:
    """Add accelerator and accelerators to every offer."""
    shape = machines.set_index(["cloud", "instance_type"])[["accelerator", "accelerators"]]
    place = pd.MultiIndex.from_frame(offers[["cloud", "instance_type"]].astype(object))
    position = shape.index.get_indexer(place)
    if (position < 0).any():
        cloud, name = place[int((position < 0).argmax())]
        raise CatalogError(
            f"an offer of {cloud} names the machine “{name}”, which is not described.",
            where="offers",
            todo="Add the machine or drop the offer.",
        )
    found = shape.iloc[position]
    return offers.assign(
        accelerator=found["accelerator"].astype("category").array,
        accelerators=found["accelerators"].to_numpy(),
    )


def _check_accelerators(tables: CatalogTables) -> None:
    unknown = tables.machines[~tables.machines["accelerator"].isin(tables.accelerators.index)]
    if len(unknown):
        row = unknown.iloc[0]
        raise CatalogError(
            f"{row['cloud']} {row['instance_type']} holds “{row['accelerator']}”, "
            "which is not described.",
            where="machines",
            todo="Add the accelerator.",
        )


def _laid_over(new: CatalogTables, old: CatalogTables) -> CatalogTables:
    """Offers of `new` replace those of the same key; machines and accelerators are added to."""
    own = ("offers", *TERMS)
    if not any(len(getattr(new, name)) for name in own):
        return old
    place = trust.KEY
    fresh = pd.MultiIndex.from_frame(new.offers[place].astype(object))
    kept = ~pd.MultiIndex.from_frame(old.offers[place].astype(object)).isin(fresh)
    offers = pd.concat([new.offers.astype(dict.fromkeys(place, object)), old.offers[kept]])
    machines = pd.concat([new.machines, old.machines])
    accelerators = pd.concat([new.accelerators, old.accelerators])
    return dataclasses.replace(
        old,
        offers=offers.astype(dict.fromkeys([*place, "source"], "category")).reset_index(drop=True),
        machines=machines.drop_duplicates(["cloud", "instance_type"]).reset_index(drop=True),
        accelerators=accelerators[~accelerators.index.duplicated()].reindex(
            old.accelerators.index.union(new.accelerators.index, sort=False)
        ),
        **{name: getattr(new if len(getattr(new, name)) else old, name) for name in TERMS},
        hash=hashlib.sha256(f"{new.hash}\0{old.hash}".encode()).hexdigest()[:16],
    )


def _newest(offers: pd.DataFrame) -> dt.date | None:
    newest = offers["as_of"].max()
    return None if pd.isna(newest) else newest.date()
