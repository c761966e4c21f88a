"""The page Catalog: filters, table, chart, and the form of own machines."""

from __future__ import annotations

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from ui_apps import button, open_page, text_of

from advisor.catalog.own import DISCOUNTS, MACHINES, read
from advisor.core.paths import data_dir
from advisor.testing.own_lists import AWS_DISCOUNT, BOX, LAB, machines_csv, write


def catalog() -> AppTest:
    return open_page("catalog")


def prices(test: AppTest) -> pd.DataFrame:
    assert not test.exception
    return test.dataframe[0].value


def upload(test: AppTest, text: str, name: str = "mine.csv") -> AppTest:
    return test.file_uploader[0].upload(name, text.encode(), "text/csv").run()


def test_every_machine_is_listed_at_its_cheapest_with_units() -> None:
    test = catalog()
    shown = prices(test)
    assert {"USD/h", "USD/accelerator-h", "RAM, GB", "Network, Gbit/s", "Age, days"} <= set(shown)
    assert not shown.duplicated(["Cloud", "Machine", "Market"]).any()
    assert set(shown["Market"]) == {"On-demand", "Spot"}
    assert "List, USD/h" not in shown
    assert not shown["Trust"].str.contains("not recommended").any()
    assert "machine types" in text_of(test)


def test_search_and_filters_narrow_the_table_and_can_be_cleared() -> None:
    test = catalog()
    everything = len(prices(test))
    test.text_input(key="catalog_search").set_value("h100 us-east").run()
    assert prices(test)["Accelerator"].str.startswith("H100").all()
    test.multiselect(key="clouds_listed").set_value(["aws"]).run()
    assert set(prices(test)["Cloud"]) == {"AWS"}
    test.text_input(key="catalog_search").set_value("no such machine").run()
    assert "No price matches" in text_of(test)
    button(test, "Clear filters").click().run()
    assert len(prices(test)) >= everything


def test_every_region_and_doubtful_prices_are_shown_when_asked_for() -> None:
    test = catalog()
    cheapest = prices(test)
    test.toggle(key="every_region").set_value(True).run()
    every = prices(test)
    assert len(every) > 3 * len(cheapest)
    test.toggle(key="doubtful").set_value(True).run()
    assert prices(test)["Trust"].str.contains("not recommended").any()


def test_a_discount_shows_the_list_price_beside_what_is_paid() -> None:
    write(DISCOUNTS, AWS_DISCOUNT)
    shown = prices(catalog())
    aws = shown[(shown["Cloud"] == "AWS") & (shown["Market"] == "On-demand")]
    assert (aws["USD/h"] < aws["List, USD/h"]).all()
    assert aws["Trust"].str.contains("your discount 12 %").all()


def test_an_uploaded_list_is_kept_only_once_it_is_saved() -> None:
    test = upload(catalog(), machines_csv(LAB, BOX))
    assert not (data_dir() / MACHINES.file).exists()
    button(test, "Save").click().run()
    assert [row["name"] for row in read(MACHINES).rows] == ["lab-h100", "box"]
    shown = prices(test)
    assert set(shown.loc[shown["Cloud"] == "Own", "Machine"]) == {"lab-h100", "box"}
    assert button(test, "Save").disabled
    assert "1 available" in " ".join(shown["Trust"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (machines_csv(LAB.replace("9.50", "NaN")), "Row 1, USD/h:** “NaN” is not a number."),
        (machines_csv(LAB, BOX.replace("RTX 4090", "RTX 409")), "Row 2, Accelerator:** unknown"),
        (machines_csv(LAB, LAB), "Row 2, Name:** “lab-h100” stands in row"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_and_it_cannot_be_saved(text: str, said: str) -> None:
    test = upload(catalog(), text)
    assert said in text_of(test).replace("\\", "")
    assert button(test, "Save").disabled
    assert not (data_dir() / MACHINES.file).exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (machines_csv(LAB).replace("vcpus", "cpus"), "there is no column “cpus”"),
        ("a,b\n1,2\n", "no column is known"),
        (machines_csv(), "the file has no rows"),
        ("", "the file is empty"),
    ],
)
def test_a_file_that_is_no_list_is_refused_and_changes_nothing(text: str, said: str) -> None:
    write(MACHINES, machines_csv(BOX))
    test = upload(catalog(), text, name="../../<b>mine.csv")
    shown = text_of(test).replace("\\", "")
    assert said in shown
    assert "<b>mine.csv" in shown
    assert "../.." not in shown
    assert [row["name"] for row in read(MACHINES).rows] == ["box"]


def test_a_broken_list_is_said_and_can_be_corrected_in_the_form() -> None:
    write(MACHINES, machines_csv(LAB.replace("9.50", "-1")))
    test = catalog()
    said = text_of(test).replace("\\", "")
    assert "own_machines.csv, row 2, column usd_per_h" in said
    assert "stay in use" in said
    assert "Row 1, USD/h:** -1 is not between" in said
    upload(test, machines_csv(LAB))
    button(test, "Save").click().run()
    assert "stay in use" not in text_of(test)


def test_discounts_and_credits_have_their_forms() -> None:
    test = upload(catalog(), AWS_DISCOUNT)
    assert test.session_state["own_list"] == "discounts"
    button(test, "Save").click().run()
    assert read(DISCOUNTS).rows[0]["discount_percent"] == 12
    test = upload(test, "cloud,market,discount_percent\naws,spot,5\n")
    button(test, "Discard changes").click().run()
    assert button(test, "Discard changes").disabled
    assert [row["market"] for row in read(DISCOUNTS).rows] == ["on_demand"]


def test_a_list_that_cannot_be_read_is_said_and_an_empty_form_does_not_replace_it() -> None:
    file = data_dir() / MACHINES.file
    file.write_bytes(machines_csv(LAB.replace("lab", "Zürich")).encode("latin-1"))
    before = file.read_bytes()
    test = catalog()
    assert button(test, "Save").disabled
    assert "UTF-8" in text_of(test)
    upload(test, machines_csv(LAB))
    assert not button(test, "Save").disabled
    assert file.read_bytes() == before
