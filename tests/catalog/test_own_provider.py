"""Own machines, discounts and credits in the catalog."""

from __future__ import annotations

import dataclasses
import datetime as dt
import os

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.catalog import Catalog, load, stamp
from advisor.catalog.discounts import discounted
from advisor.catalog.own import CREDITS, DISCOUNTS, MACHINES, remove
from advisor.catalog.own import files as own_files
from advisor.catalog.provider import PriceProvider
from advisor.catalog.providers.own import OwnProvider
from advisor.core.errors import CatalogError
from advisor.core.paths import data_dir
from advisor.testing.catalog import ProviderContract
from advisor.testing.own_lists import BOX, LAB, machines_csv, write

TODAY = dt.date(2026, 9, 1)


class TestOwnMachines(ProviderContract):
    @pytest.fixture(scope="class")
    @classmethod
    def provider(cls, tmp_path_factory: pytest.TempPathFactory) -> PriceProvider:
        folder = tmp_path_factory.mktemp("lists")
        (folder / MACHINES.file).write_text(machines_csv(LAB, BOX), encoding="utf-8")

        class Elsewhere(OwnProvider):
            """Reads a folder that outlives the data directory of one test."""

            def fetch(self):
                with pytest.MonkeyPatch.context() as patch:
                    patch.setenv("ADVISOR_DATA_DIR", str(folder))
                    return super().fetch()

        return Elsewhere()


def snapshot() -> Catalog:
    return load(("snapshot",), TODAY)


def test_without_lists_the_catalog_is_the_snapshot() -> None:
    assert load(today=TODAY).hash == snapshot().hash
    assert load(today=TODAY).notes == ()


def test_own_machines_are_offers_beside_the_clouds() -> None:
    write(MACHINES, machines_csv(LAB, BOX))
    catalog = load(today=TODAY)
    assert len(catalog.offers) == len(snapshot().offers) + 2
    offer = catalog.offer("own", "lab-h100", "eu-lab", "on_demand")
    assert (offer.usd_per_h, offer.source, offer.flags) == (9.5, "your own list", ())
    assert offer.as_of == dt.date(2026, 7, 1)
    own = catalog.offers[catalog.offers["cloud"] == "own"].set_index("instance_type")
    assert own["available"].to_dict() == {"lab-h100": 4, "box": 1}
    assert own["rankable"].all()
    assert own["area"].tolist() == ["Europe", "Other"]
    assert catalog.offers.loc[catalog.offers["cloud"] != "own", "available"].isna().all()
    machine = catalog.find_machine("lab-h100")
    assert machine.link_bytes_per_s == catalog.machine("aws", "p5.48xlarge").link_bytes_per_s
    assert machine.network_bytes_per_s == 50e9
    assert catalog.find_machine("box").network_bytes_per_s is None


def test_the_accelerators_and_their_order_stay_so_that_nothing_is_trained_again() -> None:
    write(MACHINES, machines_csv(BOX, LAB))
    pd.testing.assert_frame_equal(load(today=TODAY).accelerators, snapshot().accelerators)


def test_an_own_price_far_below_the_clouds_is_trusted_and_moves_no_flag_of_theirs() -> None:
    write(MACHINES, machines_csv(LAB.replace("9.50", "0.10")))
    offers = load(today=TODAY).offers
    own = offers["cloud"] == "own"
    assert offers.loc[own, "rankable"].all()
    before = snapshot().offers["flags"].astype(str)
    assert offers.loc[~own, "flags"].astype(str).tolist() == before.tolist()


def test_a_price_without_a_day_is_dated_by_its_file() -> None:
    write(MACHINES, machines_csv(BOX))
    day = dt.datetime(2026, 8, 1, 12, tzinfo=dt.UTC).timestamp()
    os.utime(data_dir() / MACHINES.file, (day, day))
    offer = load(today=TODAY).offer("own", "box", "on-premises", "on_demand")
    assert offer.as_of == dt.date(2026, 8, 1)


def test_a_changed_file_is_noticed_and_an_unchanged_one_is_not_read_again() -> None:
    write(MACHINES, machines_csv(BOX))
    first, before = load(today=TODAY), stamp()
    assert load(today=TODAY) is first
    write(MACHINES, machines_csv(BOX, LAB))
    assert stamp() != before
    assert len(load(today=TODAY).offers) == len(first.offers) + 1
    assert remove(MACHINES)
    assert load(today=TODAY).hash == snapshot().hash
    assert not remove(MACHINES)


def test_a_discount_lowers_what_is_paid_and_keeps_the_list_price() -> None:
    write(DISCOUNTS, "cloud,market,discount_percent\naws,on-demand,12\ngcp,spot,5\n")
    catalog, listed = load(today=TODAY), snapshot()
    key = ("aws", "p5.48xlarge", "us-east-1", "on_demand")
    offer, before = catalog.offer(*key), listed.offer(*key)
    assert offer.usd_per_h == pytest.approx(0.88 * before.usd_per_h)
    assert offer.list_usd_per_h == before.usd_per_h
    assert offer.label == "your discount 12 %"
    assert (before.list_usd_per_h, before.label) == (None, "")
    ratio = catalog.offers["usd_per_h"] / listed.offers["usd_per_h"]
    kind = catalog.offers["cloud"].astype(str) + " " + catalog.offers["market"].astype(str)
    shares = {"aws on_demand": 0.88, "gcp spot": 0.95}
    assert ratio.to_numpy() == pytest.approx(kind.map(shares).fillna(1.0).to_numpy())
    assert (catalog.offers["flags"] == listed.offers["flags"].astype(str)).all()
    assert catalog.hash != listed.hash


@given(percent=st.floats(0.01, 99), price=st.floats(0.01, 2000))
def test_a_discount_takes_exactly_its_share(percent: float, price: float) -> None:
    offers = pd.DataFrame({"cloud": ["a", "b"], "market": ["spot"] * 2, "usd_per_h": [price] * 2})
    terms = pd.DataFrame({"cloud": ["a"], "market": ["spot"], "discount_percent": [percent]})
    paid = discounted(offers, terms)
    assert paid["usd_per_h"].tolist() == pytest.approx([price * (1 - percent / 100), price])
    assert paid["list_usd_per_h"].tolist() == [price, price]
    assert offers["usd_per_h"].tolist() == [price, price]


def test_credits_are_in_the_catalog() -> None:
    write(CREDITS, "cloud,credits_usd\nGCP,1000\n")
    assert load(today=TODAY).credits_usd == {"gcp": 1000.0}
    assert snapshot().credits_usd == {}


@pytest.mark.parametrize(
    ("row", "place", "said"),
    [
        (LAB.replace("9.50", "NaN"), "row 2, column usd_per_h", "“NaN” is not a number"),
        (LAB.replace("9.50", "-1"), "row 2, column usd_per_h", "not between 0 and"),
        (LAB.replace("H100,8", "H1000,8"), "row 2, column accelerator", "H100"),
    ],
)
def test_a_broken_list_leaves_the_snapshot_in_use_and_says_so(
    row: str, place: str, said: str
) -> None:
    write(MACHINES, machines_csv(row))
    with pytest.raises(CatalogError) as caught:
        OwnProvider().fetch()
    assert caught.value.where == f"{MACHINES.file}, {place}"
    catalog = load(today=TODAY)
    assert catalog.hash == snapshot().hash
    (note,) = catalog.notes
    assert place in note
    assert said in note
    assert note.endswith("The prices of 2026-07-30 stay in use.")


def test_a_list_that_is_a_directory_leaves_the_snapshot_in_use() -> None:
    (data_dir() / CREDITS.file).mkdir()
    (note,) = load(today=TODAY).notes
    assert "cannot be read" in note


def test_tables_of_a_snapshot_alone_have_no_terms() -> None:
    fields = {field.name for field in dataclasses.fields(snapshot().tables)}
    assert {"discounts", "credits"} <= fields
    assert not len(snapshot().tables.discounts)


def test_a_list_that_is_taken_away_while_it_is_read_was_written_today(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(MACHINES, machines_csv(LAB))
    read = own_files.content_of

    def and_then_removed(table: own_files.OwnTable) -> bytes | None:
        content = read(table)
        own_files.path_of(table).unlink(missing_ok=True)
        return content

    monkeypatch.setattr(own_files, "content_of", and_then_removed)
    offers = OwnProvider().fetch().offers
    assert offers["as_of"].dt.date.iloc[0] <= dt.datetime.now(tz=dt.UTC).date()
