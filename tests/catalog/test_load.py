"""Putting providers together: failures are told, live prices lie over the snapshot."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterator

import pandas as pd
import pytest

from advisor.catalog import load
from advisor.catalog.load import assemble
from advisor.catalog.provider import PROVIDERS
from advisor.catalog.providers.snapshot import SnapshotProvider
from advisor.catalog.tables import CatalogTables
from advisor.core.errors import CatalogError, UnknownNameError

TODAY = dt.date(2026, 9, 1)


@pytest.fixture(scope="module")
def tables() -> CatalogTables:
    return SnapshotProvider().fetch()


@pytest.fixture
def live(tables: CatalogTables, monkeypatch: pytest.MonkeyPatch) -> Iterator[type]:
    """A second provider with one new price, one changed price and one new machine."""

    class Live:
        name = "live"
        broken = False

        def stamp(self) -> str:
            return str(self.broken)

        def fetch(self) -> CatalogTables:
            if self.broken:
                raise CatalogError("no answer.", where="live", todo="Try again later.")
            old = tables.offers.astype(dict.fromkeys(["cloud", "instance_type", "region"], object))
            mask = (old["instance_type"] == "p5.48xlarge") & (old["market"] == "on_demand")
            changed = old[mask & (old["region"] == "us-east-1")].assign(
                usd_per_h=50.0, as_of=pd.Timestamp("2026-08-30").as_unit("s")
            )
            added = changed.assign(instance_type="p7.48xlarge")
            machine = tables.machines[tables.machines["instance_type"] == "p5.48xlarge"]
            return dataclasses.replace(
                tables,
                offers=pd.concat([changed, added]),
                machines=machine.assign(instance_type="p7.48xlarge"),
                accelerators=tables.accelerators.loc[["H100"]],
                hash="live",
            )

    PROVIDERS[next(iter(PROVIDERS))]  # walk the package before a plug-in is added by hand
    monkeypatch.setitem(PROVIDERS._items, "live", Live)
    yield Live
    load.__globals__["_load"].cache_clear()


def test_the_same_arguments_give_the_same_object() -> None:
    assert load(today=TODAY) is load(today=TODAY)


def test_the_age_of_prices_is_counted_to_the_given_day() -> None:
    early = load(today=dt.date(2026, 8, 1)).offers["stale"].mean()
    late = load(today=dt.date(2027, 8, 1)).offers["stale"].mean()
    assert early < 0.7
    assert late == 1


def test_live_prices_replace_those_of_the_snapshot(live: type) -> None:
    catalog = load(("snapshot", "live"), TODAY)
    offer = catalog.offer("aws", "p5.48xlarge", "us-east-1", "on_demand")
    assert offer.usd_per_h == 50
    assert offer.flags == ()
    assert catalog.offer("aws", "p7.48xlarge", "us-east-1", "on_demand").usd_per_h == 50
    assert catalog.machine("aws", "p7.48xlarge").accelerator == "H100"
    assert len(catalog.offers) == len(load(today=TODAY).offers) + 1
    assert catalog.as_of == dt.date(2026, 8, 30)
    assert catalog.hash != load(today=TODAY).hash
    assert catalog.notes == ()


def test_a_failing_provider_keeps_the_snapshot_and_says_so(
    live: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "broken", True)
    catalog = load(("snapshot", "live"), TODAY)
    assert catalog.hash == load(today=TODAY).hash
    assert catalog.notes == (
        "live: live: no answer. Try again later. The prices of 2026-07-30 stay in use.",
    )


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="snapshot"):
        load(("snapshots",), TODAY)


@pytest.mark.parametrize("price", [0.0, -1.0, float("nan")])
def test_a_price_of_nothing_is_unknown_not_free(tables: CatalogTables, price: float) -> None:
    offers = tables.offers.copy()
    offers.loc[0, "usd_per_h"] = price
    catalog = assemble(dataclasses.replace(tables, offers=offers), TODAY)
    assert len(catalog.offers) == len(offers) - 1
    assert catalog.notes == ("Offers left out because their price is not positive: 1.",)


def test_tables_that_do_not_fit_each_other_are_refused(tables: CatalogTables) -> None:
    broken = dataclasses.replace(tables, machines=tables.machines.iloc[1:])
    with pytest.raises(CatalogError, match=r"g4dn\.12xlarge"):
        assemble(broken, TODAY)
    broken = dataclasses.replace(tables, accelerators=tables.accelerators.drop("T4"))
    with pytest.raises(CatalogError, match="T4"):
        assemble(broken, TODAY)
    strange = tables.offers.assign(market="barter")
    with pytest.raises(CatalogError, match="barter"):
        assemble(dataclasses.replace(tables, offers=strange), TODAY)
