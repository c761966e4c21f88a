"""Trust flags on little hand-made price lists."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pandas as pd
import pytest

from advisor.catalog.trust import with_flags

TODAY = dt.date(2026, 9, 1)


def offer(**fields: Any) -> dict[str, Any]:
    given = {
        "cloud": "aws",
        "instance_type": "p4d.24xlarge",
        "region": "us-east-1",
        "market": "on_demand",
        "usd_per_h": 22.0,
        "derived": False,
        "as_of": "2026-07-20",
        "accelerator": "A100-40GB",
        "accelerators": 8.0,
    }
    return given | fields


def flagged(*rows: dict[str, Any]) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    frame["as_of"] = pd.to_datetime(frame["as_of"]).astype("datetime64[s]")
    return with_flags(frame, TODAY)


def flags(*rows: dict[str, Any]) -> list[set[str]]:
    return [set(text.split(",")) - {""} for text in flagged(*rows)["flags"]]


def test_a_fresh_plain_price_has_no_flag() -> None:
    result = flagged(offer())
    assert result["flags"].tolist() == [""]
    assert result["rankable"].all()


@pytest.mark.parametrize(
    ("as_of", "stale"), [("2026-05-04", False), ("2026-05-03", True), (None, True)]
)
def test_a_price_is_stale_after_120_days_or_without_a_date(as_of: str | None, stale: bool) -> None:
    result = flagged(offer(as_of=as_of))
    assert result["stale"].tolist() == [stale]
    assert result["rankable"].all()


def test_derived_spot_is_flagged() -> None:
    assert flags(offer(), offer(market="spot", usd_per_h=8.0, derived=True))[1] == {"derived_spot"}


@pytest.mark.parametrize("price", [22.0, 25.0])
def test_spot_that_saves_nothing_is_flagged(price: float) -> None:
    assert flags(offer(), offer(market="spot", usd_per_h=price))[1] == {"spot_not_below_on_demand"}


def test_spot_of_another_region_is_no_measure() -> None:
    found = flags(offer(), offer(market="spot", usd_per_h=25.0, region="us-west-2"))
    assert found[1] == {"reservation_only"}


def test_a_spot_price_below_15_percent_is_implausible() -> None:
    result = flagged(offer(), offer(market="spot", usd_per_h=22.0 * 0.149))
    assert result["implausible"].tolist() == [False, True]
    assert result["rankable"].tolist() == [True, False]


def test_a_bid_floor_is_implausible() -> None:
    cheap = offer(cloud="bidder", instance_type="1x", usd_per_h=0.01, accelerators=1.0)
    others = [offer(cloud=cloud, usd_per_h=20.0 + i) for i, cloud in enumerate("abc")]
    result = flagged(cheap, *others)
    assert result["implausible"].tolist() == [True, False, False, False]


def test_an_extra_digit_is_implausible() -> None:
    others = [offer(cloud=cloud) for cloud in "abc"]
    assert flagged(offer(usd_per_h=220.0), *others)["implausible"].tolist() == [True] + 3 * [False]


def test_a_cloud_with_many_regions_does_not_decide_what_is_plausible() -> None:
    dear = [offer(cloud="dear", region=f"r{i}", usd_per_h=60.0) for i in range(50)]
    cheap = [offer(cloud="a", usd_per_h=9.0), offer(cloud="b", usd_per_h=20.0)]
    assert not flagged(*dear, *cheap)["implausible"].any()


def test_fractions_are_compared_per_device() -> None:
    whole = offer(instance_type="g4-standard-48", usd_per_h=4.5, accelerators=1.0)
    eighth = offer(instance_type="g4-standard-6", usd_per_h=0.56, accelerators=0.125)
    assert not flagged(whole, eighth)["implausible"].any()


def test_capacity_that_cannot_be_had_on_demand() -> None:
    result = flagged(
        offer(market="spot", usd_per_h=8.0), offer(market="reserved_1y", usd_per_h=13.0)
    )
    assert result["reservation_only"].all()
    assert result["rankable"].tolist() == [True, False]


def test_of_two_rows_for_one_key_the_dearer_is_kept() -> None:
    result = flagged(offer(usd_per_h=0.086), offer(usd_per_h=0.178), offer(region="eu-west-1"))
    assert result["usd_per_h"].tolist() == [0.178, 22.0]
    assert result["duplicate"].tolist() == [True, False]


def test_equal_rows_for_one_key_are_no_disagreement() -> None:
    result = flagged(offer(), offer())
    assert len(result) == 1
    assert not result["duplicate"].any()


def test_several_flags_stand_in_one_text() -> None:
    found = flags(offer(), offer(market="spot", usd_per_h=2.0, derived=True, as_of=None))
    assert found[1] == {"stale", "derived_spot", "implausible"}
