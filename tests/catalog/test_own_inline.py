"""Own machines that a question names: read, laid over the catalog, refused in words."""

from __future__ import annotations

import pytest

from advisor import catalog as catalogs
from advisor.catalog.own import known
from advisor.catalog.own.inline import machines_named
from advisor.core.errors import InvalidInputError


def test_machines_accelerators_price_and_network_are_read() -> None:
    row = machines_named("2 × 8 H100 at $0.9/h over 400 Gbit/s", known())
    assert (row["accelerator"], row["accelerators"], row["available"]) == ("H100", 8, 2)
    assert (row["usd_per_h"], row["network_gbit_per_s"]) == (7.2, 400)


def test_machines_without_a_price_cost_next_to_nothing() -> None:
    assert machines_named("1 x 4 A100 80GB", known())["usd_per_h"] == 0.01
    assert machines_named("1 x 4 A100 80GB at 0", known())["usd_per_h"] == 0.01


def test_they_are_offers_of_the_users_own_cloud_and_only_of_that_question() -> None:
    offers = catalogs.load(("snapshot",), own=("2 x 8 H100 at 0.9",)).offers
    (own,) = offers[offers["cloud"] == "own"].to_dict("records")
    assert (own["instance_type"], own["available"], own["rankable"]) == ("own-8xH100", 2.0, True)
    assert "own" not in catalogs.load(("snapshot",)).offers["cloud"].unique()


def test_machines_of_the_same_accelerators_are_all_kept() -> None:
    offers = catalogs.load(("snapshot",), own=("2 x 8 H100", "3 x 8 H100 at 2")).offers
    own = offers[offers["cloud"] == "own"].set_index("instance_type")["available"].to_dict()
    assert own == {"own-8xH100": 2.0, "own-8xH100-2": 3.0}


@pytest.mark.parametrize(
    "text", ["", "H100", "2 x H100", "two x 8 H100", "2 x 8 H1000", "2 x 999 H100", "0 x 8 H100",
             "2 x 8 H100 at 9999", "2 x 8 H100 over 0 Gbit/s", "2 x 8 H100 at free",
             "2 x 8 H100 at 0.9 over 1 rope"],
)  # fmt: skip
def test_what_is_not_clear_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        machines_named(text, known())
