"""Limits by name: two levels of places and devices, markets with dashes."""

from __future__ import annotations

import pytest

from advisor import catalog as catalogs
from advisor.advice.limits import (
    OFFER_COLUMNS,
    clouds_named,
    devices_named,
    listed_offers,
    markets_named,
    places_named,
)
from advisor.catalog import Catalog
from advisor.core.errors import UnknownNameError
from advisor.search.constraints import NO_COMMITMENT

NO_LIMIT = dict.fromkeys(["clouds", "areas", "regions", "families", "accelerators", "markets"])


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return catalogs.load()


def test_no_names_are_no_limit(catalog: Catalog) -> None:
    assert clouds_named([], catalog) == {"aws", "gcp", "azure"}
    assert clouds_named([], catalog, usual=False) is None
    assert clouds_named(["Any"], catalog) is None
    assert places_named([], catalog) == {"areas": None, "regions": None}
    assert devices_named([], catalog) == {"families": None, "accelerators": None}
    assert markets_named([]) == NO_COMMITMENT
    assert markets_named([], None) is None


def test_names_are_read_in_any_case_and_spelling(catalog: Catalog) -> None:
    assert clouds_named(["AWS", "gcp"], catalog) == {"aws", "gcp"}
    assert places_named(["us"], catalog) == {"areas": {"US"}, "regions": None}
    assert places_named(["US-East-1"], catalog) == {"areas": None, "regions": {"us-east-1"}}
    assert devices_named(["hopper"], catalog) == {"families": {"Hopper"}, "accelerators": None}
    assert devices_named(["a100 80gb"], catalog)["accelerators"] == {"A100-80GB"}
    assert markets_named(["On-Demand", "reserved_1y"]) == {"on_demand", "reserved_1y"}


def test_a_region_beside_an_area_adds_to_it(catalog: Catalog) -> None:
    both = places_named(["Europe", "us-east-1"], catalog)
    assert both["areas"] is None
    offers = catalog.offers
    inside = set(offers["region"][offers["area"] == "Europe"].astype(str))
    assert both["regions"] == inside | {"us-east-1"}


def test_an_accelerator_beside_a_family_adds_to_it(catalog: Catalog) -> None:
    both = devices_named(["Hopper", "A100-80GB"], catalog)
    assert both["families"] is None
    assert {"A100-80GB", "H100", "H200"} <= both["accelerators"]
    assert "A100-40GB" not in both["accelerators"]


@pytest.mark.parametrize(
    ("reader", "name", "offered"),
    [
        (clouds_named, "asw", "aws"),
        (places_named, "us-esat-1", "us-east-1"),
        (places_named, "Erope", "Europe"),
        (devices_named, "H1000", "H100"),
        (lambda names, _: markets_named(names), "spott", "spot"),
    ],
)
def test_an_unknown_name_offers_the_nearest(
    reader: object, name: str, offered: str, catalog: Catalog
) -> None:
    with pytest.raises(UnknownNameError) as caught:
        reader([name], catalog)
    assert f"“{name}”" in str(caught.value)
    assert offered in caught.value.nearest


def test_offers_are_listed_cheapest_per_accelerator_first(catalog: Catalog) -> None:
    offers = listed_offers(catalog, **NO_LIMIT)
    assert list(offers.columns) == list(OFFER_COLUMNS)
    assert len(offers) == len(catalog.offers)
    assert offers["usd_per_accelerator_h"].is_monotonic_increasing
    per_device = offers["usd_per_h"] / offers["accelerators"]
    assert (offers["usd_per_accelerator_h"] == per_device).all()


@pytest.mark.parametrize(
    ("limit", "value", "column"),
    [("clouds", "gcp", "cloud"), ("regions", "us-east-1", "region"), ("markets", "spot", "market"),
     ("accelerators", "H100", "accelerator")],
)  # fmt: skip
def test_offers_are_listed_within_each_limit(
    limit: str, value: str, column: str, catalog: Catalog
) -> None:
    offers = listed_offers(catalog, **(NO_LIMIT | {limit: frozenset({value})}))
    assert set(offers[column].astype(str)) == {value}
    assert len(offers) == (catalog.offers[column] == value).sum() > 0


def test_offers_are_listed_by_area_and_family(catalog: Catalog) -> None:
    limits = {"areas": frozenset({"Asia"}), "families": frozenset({"Volta"})}
    offers = listed_offers(catalog, **(NO_LIMIT | limits))
    families = catalog.accelerators["family"][offers["accelerator"].astype(str)]
    assert set(families) == {"Volta"}
    assert (catalog.offers.loc[offers.index, "area"] == "Asia").all()
