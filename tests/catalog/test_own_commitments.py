"""Commitments, exchange rates and carbon of the user: read, refused, and laid over the catalog."""

from __future__ import annotations

import datetime as dt

import pytest

from advisor import catalog as catalogs
from advisor.catalog import own
from advisor.catalog.own import CARBON, COMMITMENTS, RATES, OwnTable, known, parse, template
from advisor.core.paths import data_dir
from advisor.search.facts import offer_facts
from advisor.search.offers import offer_columns

BLOCK = ("cloud,instance_type,region,kind,usd_per_h,block_h,available\n"
         "aws,P5.48xlarge,us-east-1,capacity block,31.5,96,4\n"
         "aws,p4d.24xlarge,us-east-1,savings-plan,18,,\n")  # fmt: skip
GRID = "cloud,region,g_per_kwh,pue\naws,us-east-1,380,1.2\ngcp,europe-west4,250,\n"


@pytest.fixture
def write(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))

    def write_list(table: OwnTable, text: str) -> None:
        parsed = parse(text.encode(), table, known())
        assert parsed.problems == ()
        own.save(table, parsed.rows)

    return write_list


@pytest.mark.parametrize("table", [COMMITMENTS, RATES, CARBON])
def test_the_template_of_a_list_is_a_list(table: OwnTable) -> None:
    parsed = own.parse_any(template(table).encode(), known())
    assert (parsed.table, parsed.problems) == (table, ())


@pytest.mark.parametrize(
    ("table", "text", "said"),
    [
        (COMMITMENTS, BLOCK.replace("31.5,96", "31.5,"), "needs its length"),
        (COMMITMENTS, BLOCK.replace("18,,", "18,24,"), "has no fixed length"),
        (COMMITMENTS, BLOCK.replace("P5.48xlarge", "p9.mega"), "unknown instance type"),
        (COMMITMENTS, BLOCK.replace("aws,p4d", "gcp,p4d"), "unknown instance type of gcp"),
        (COMMITMENTS, BLOCK.replace("savings-plan", "handshake"), "unknown commitment"),
        (RATES, "currency,usd,as_of\nEURO,1.1,2026-07-01\n", "no code of another currency"),
        (RATES, "currency,usd,as_of\nUSD,1,2026-07-01\n", "no code of another currency"),
        (RATES, "currency,usd\nEUR,1.1\n", "column as_of is missing"),
        (CARBON, "cloud,region,g_per_kwh\naws,us-east-1,-5\n", "is not between 0 and 2,000"),
    ],
)
def test_what_a_list_may_not_hold_is_said(table: OwnTable, text: str, said: str) -> None:
    problems = parse(text.encode(), table, known()).problems
    assert any(said in str(problem) for problem in problems)


def test_a_commitment_is_an_offer_at_its_price_that_may_be_recommended(write) -> None:
    write(COMMITMENTS, BLOCK)
    offers = catalogs.load().offers
    bound = offers[offers["market"].isin(["capacity_block", "savings_plan"])]
    rows = bound.set_index("market")[["usd_per_h", "available", "block_h", "rankable"]]
    assert rows.loc["capacity_block"].tolist() == [31.5, 4.0, 96.0, True]
    assert rows.loc["savings_plan"].tolist()[0] == 18.0
    columns = offer_columns(catalogs.load())
    block = columns[columns["market"] == "capacity_block"].iloc[0]
    assert (block["increment_s"], block["minimum_s"]) == (96 * 3600, 96 * 3600)
    spot = columns[columns["market"] == "spot"]
    assert (spot["increment_s"].dropna() < 3601).all()


def test_rates_have_their_day(write) -> None:
    assert catalogs.load().rates == {}
    write(RATES, "currency,usd,as_of\neur,1.1,2026-07-01\n")
    assert catalogs.load().rates == {"EUR": (1.1, dt.date(2026, 7, 1))}


def test_a_grid_gives_the_emissions_of_its_machines_and_of_no_others(write) -> None:
    assert offer_facts(catalogs.load())["carbon_kg_per_h"].isna().all()
    write(CARBON, GRID)
    catalog = catalogs.load()
    facts, offers = offer_facts(catalog), catalog.offers
    here = (offers["instance_type"] == "p4d.24xlarge") & (offers["region"] == "us-east-1")
    tdp_w = catalog.accelerators["tdp_w"]["A100-40GB"]
    expected = 8 * tdp_w / 1000 * 380 / 1000 * 1.2
    assert facts["carbon_kg_per_h"][here].to_numpy() == pytest.approx(expected)
    elsewhere = ~offers["region"].isin(["us-east-1", "europe-west4"])
    assert facts["carbon_kg_per_h"][elsewhere].isna().all()


def test_a_broken_list_of_rates_leaves_the_catalog_in_use(write, tmp_path) -> None:
    (data_dir() / RATES.file).write_text("currency,usd,as_of\nEUR,much,2026-07-01\n")
    catalog = catalogs.load()
    assert catalog.rates == {}
    assert any("own_rates.csv" in note for note in catalog.notes)
