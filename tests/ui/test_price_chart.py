"""Machines and prices side by side: the table, its cheapest rows, the chart of ranges."""

from __future__ import annotations

import datetime as dt
import io

import numpy as np
import pandas as pd
import pytest

from advisor.catalog import Catalog, load
from advisor.catalog.own import MACHINES
from advisor.catalog.prices import FLAG_WORDS, cheapest, matching, price_table
from advisor.catalog.trust import FLAGS
from advisor.testing.own_lists import BOX, LAB, machines_csv, write
from advisor.ui.catalog_table import TITLES, prices_csv, shown_prices
from advisor.ui.charts.prices import draw_prices, hover_text, price_ranges
from advisor.ui.theme import DARK, LIGHT

TODAY = dt.date(2026, 9, 1)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load(("snapshot",), TODAY)


@pytest.fixture(scope="module")
def table(catalog: Catalog) -> pd.DataFrame:
    return price_table(catalog, TODAY)


def test_every_price_is_a_row_with_its_machine(catalog: Catalog, table: pd.DataFrame) -> None:
    assert len(table) == len(catalog.offers)
    row = table[
        (table["instance_type"] == "p5.48xlarge")
        & (table["region"] == "us-east-1")
        & (table["market"] == "on_demand")
    ].iloc[0]
    offer = catalog.offer("aws", "p5.48xlarge", "us-east-1", "on_demand")
    machine = catalog.machine("aws", "p5.48xlarge")
    assert row["usd_per_h"] == offer.usd_per_h
    assert row["usd_per_accelerator_h"] == pytest.approx(offer.usd_per_h / 8)
    assert row["accelerator_memory_gb"] == 80
    assert row["peak_bf16_tflops"] == pytest.approx(989)
    assert row["usd_per_pflop_h"] == pytest.approx(offer.usd_per_h / (8 * 0.989))
    assert row["network_gbit_per_s"] == pytest.approx((machine.network_bytes_per_s or 0) * 8 / 1e9)
    assert row["age_days"] == (TODAY - (offer.as_of or TODAY)).days


def test_unknown_is_unknown_and_never_zero(table: pd.DataFrame) -> None:
    numbers = ["peak_bf16_tflops", "usd_per_pflop_h", "network_gbit_per_s", "vcpus", "memory_gb"]
    assert table.loc[table["accelerator"] == "T4", "usd_per_pflop_h"].isna().all()
    assert not (table[numbers] <= 0).any(axis=None)
    assert not np.isinf(table[numbers].to_numpy(float)).any()
    assert table.loc[table["as_of"].isna(), "age_days"].isna().all()


def test_every_flag_has_its_words(table: pd.DataFrame) -> None:
    assert set(FLAG_WORDS) == set(FLAGS)
    bad = table[table["implausible"]]
    assert bad["trust"].str.contains("not recommended").all()
    clean = (table["flags"].astype(str) == "").to_numpy()
    assert (table.loc[clean, "trust"] == "").all()


def test_the_cheapest_rows_are_what_a_loop_finds(table: pd.DataFrame) -> None:
    found = cheapest(table).set_index(["cloud", "instance_type", "market"])
    for key, group in table.groupby(["cloud", "instance_type", "market"], observed=True):
        trusted = group[group["rankable"]]
        best = (trusted if len(trusted) else group)["usd_per_h"].min()
        assert found.loc[key, "usd_per_h"] == best
        assert found.loc[key, "regions"] == group["region"].nunique()
    assert len(found) == table.groupby(list(found.index.names), observed=True).ngroups


def test_a_search_finds_rows_with_all_its_words(table: pd.DataFrame) -> None:
    found = matching(table, "  H100 us-EAST ", clouds=["aws"], markets=["spot"])
    assert len(found)
    assert found["accelerator"].str.startswith("H100").all()
    assert set(found["cloud"]) == {"aws"}
    assert set(found["market"]) == {"spot"}
    assert len(matching(table)) == len(table)
    assert not len(matching(table, "(h100"))  # no pattern, a word
    assert set(matching(table, areas=["Europe"])["area"]) == {"Europe"}


def test_ranges_hold_every_trusted_price_strongest_first(table: pd.DataFrame) -> None:
    ranges = price_ranges(table, most=5)
    names = list(dict.fromkeys(one.accelerator for one in ranges))
    peaks = table[table["rankable"]].groupby("accelerator")["peak_bf16_tflops"].first()
    assert len(names) == 5
    assert peaks[names].is_monotonic_decreasing
    assert peaks[names].min() >= peaks.drop(names).max()
    for one in ranges:
        rows = table[
            table["rankable"]
            & (table["accelerator"] == one.accelerator)
            & (table["market"] == one.market)
        ]
        price = rows["usd_per_accelerator_h"]
        assert (one.low, one.high, one.offers) == (price.min(), price.max(), len(rows))
        assert one.low <= one.median <= one.high
        assert one.accelerator in hover_text(one)
    for colours in (LIGHT, DARK):
        figure = draw_prices(ranges, colours)
        marks = [trace for trace in figure.data if trace.mode == "markers"]
        assert sum(len(trace.x) for trace in marks) == len(ranges)
        by_name = {one.accelerator: colours.family(one.family) for one in ranges}
        for trace in marks:
            assert list(trace.marker.color) == [by_name[name] for name in trace.y]


def test_prices_not_to_be_trusted_are_not_drawn(table: pd.DataFrame) -> None:
    assert price_ranges(table[~table["rankable"]]) == []


def test_the_csv_is_read_back_and_runs_no_formula(table: pd.DataFrame) -> None:
    rows = table.head(50).assign(source="=cmd()")
    back = pd.read_csv(io.StringIO(prices_csv(rows)))
    assert len(back) == 50
    assert (back["source"] == "'=cmd()").all()
    assert np.allclose(back["usd_per_h"], rows["usd_per_h"])


def test_own_machines_are_shown_with_their_number() -> None:
    write(MACHINES, machines_csv(LAB, BOX))
    own = price_table(load(today=TODAY), TODAY)
    own = own[own["cloud"] == "own"]
    assert sorted(own["trust"]) == ["1 available", "4 available"]
    shown = shown_prices(own)
    assert set(shown.columns) <= set(TITLES.values())
    assert set(shown["Cloud"]) == {"Own"}
