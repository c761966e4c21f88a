"""What users of other planners asked for about offers: new hardware, ceilings, commitments."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest

from advisor import api
from advisor import catalog as catalogs
from advisor.catalog import Catalog
from advisor.catalog.own import COMMITMENTS
from advisor.core.units import GB
from advisor.testing.own_lists import write

if TYPE_CHECKING:
    import pandas as pd

    from advisor.advice import Engine
    from advisor.domain import Plan

JOB: dict[str, Any] = {"tokens": "1 B", "global_batch": 256, "max_accelerators": 32}
COMMITTED = (
    "cloud,instance_type,region,kind,usd_per_h,block_h,available,as_of\n"
    "aws,p4d.24xlarge,us-east-1,savings-plan,14.5,,2,2026-11-01\n"
    "azure,Standard_ND96isr_H100_v5,eastus,savings-plan,55,,1,2026-11-01\n"
)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return catalogs.load(today=dt.date(2026, 9, 1))


def offers_of(catalog: Catalog, **wanted: str) -> pd.DataFrame:
    offers = catalog.offers
    for column, value in wanted.items():
        offers = offers[offers[column] == value]
    return offers


def plans(engine: Engine, **limits: Any) -> list[Plan]:
    """The picks and the front of a short training of Llama-2-7B."""
    advice = api.advise("llama-2-7b", **JOB, engine=engine, **limits)
    return [*(pick.plan for pick in advice.picks.values()), *advice.pareto]


def with_commitments(engine: Engine) -> Engine:
    write(COMMITMENTS, COMMITTED)
    return dataclasses.replace(engine, catalog=catalogs.load())


def test_h200_at_a_cloud_whose_list_has_none_is_not_made_up_and_is_planned_once_entered(
    engine: Engine,
) -> None:
    """No. 57: H200 at RunPod, which no price list we hold has."""
    assert offers_of(engine.catalog, cloud="runpod", accelerator="H200").empty
    with pytest.raises(api.NoFeasiblePlanError, match="clouds runpod and accelerators H200"):
        plans(engine, clouds="runpod", gpus="H200")
    for plan in plans(engine, clouds="own", own="1 x 8 H200 at 3.99"):
        assert plan.cluster.groups[0].accelerator == "H200"
        assert plan.offer.usd_per_h == pytest.approx(8 * 3.99)
        assert plan.memory.capacity_bytes == 141 * GB


def test_spot_of_b200_is_planned_where_it_is_listed_and_named_where_it_is_not(
    engine: Engine,
) -> None:
    """No. 58: B200 on spot: listed at AWS; of Google's no list we hold tells a price."""
    offers = offers_of(engine.catalog, accelerator="B200")
    assert set(offers["cloud"]) == {"aws"}
    price = offers.pivot_table("usd_per_h", "region", "market", observed=True)
    assert len(price) == 3
    assert (price["spot"] < price["on_demand"]).all()
    for plan in plans(engine, clouds="aws", gpus="B200", markets="spot"):
        assert (plan.offer.instance_type, plan.offer.market) == ("p6-b200.48xlarge", "spot")
        assert plan.interruptions is not None
    with pytest.raises(api.NoFeasiblePlanError) as caught:
        plans(engine, clouds="gcp", gpus="B200", markets="spot")
    assert "p6-b200.48xlarge" in caught.value.todo


def test_p4de_has_80_gb_devices_and_prices_in_both_markets(catalog: Catalog) -> None:
    """No. 59: p4de, the A100 machine with 80 GB a device."""
    new, old = (catalog.machine("aws", f"{name}.24xlarge") for name in ("p4de", "p4d"))
    assert (new.accelerators, new.accelerator_memory_bytes) == (8, 80 * GB)
    assert (old.accelerators, old.accelerator_memory_bytes) == (8, 40 * GB)
    for region in ("us-east-1", "us-west-2"):
        on_demand, spot, smaller = (
            catalog.offer("aws", name, region, market).usd_per_h
            for name, market in (("p4de.24xlarge", "on_demand"), ("p4de.24xlarge", "spot"),
                                 ("p4d.24xlarge", "on_demand"))
        )  # fmt: skip
        assert spot < on_demand
        assert smaller < on_demand


@pytest.mark.parametrize(
    ("cloud", "instance_type", "accelerators"),
    [("aws", "g7e.2xlarge", 1), ("aws", "g7e.48xlarge", 8), ("gcp", "g4-standard-48", 1),
     ("gcp", "g4-standard-384", 8)],
)  # fmt: skip
def test_rtx_pro_6000_is_known_with_its_memory_and_sold_by_two_clouds(
    catalog: Catalog, cloud: str, instance_type: str, accelerators: int
) -> None:
    """No. 60: RTX PRO 6000."""
    assert catalog.accelerator("RTX PRO 6000").memory_bytes == 96 * GB
    machine = catalog.machine(cloud, instance_type)
    assert (machine.accelerator, machine.accelerators) == ("RTX-PRO-6000", accelerators)
    offers = offers_of(catalog, cloud=cloud, instance_type=instance_type, market="on_demand")
    assert len(offers) >= 1
    assert offers["rankable"].all()


@pytest.mark.parametrize("size", ["4xlarge", "8xlarge"])
def test_gr6_is_g6_with_twice_the_host_memory_at_a_higher_price(
    catalog: Catalog, size: str
) -> None:
    """No. 61: g6 and gr6."""
    plain, large = (catalog.machine("aws", f"{series}.{size}") for series in ("g6", "gr6"))
    assert plain.accelerator == large.accelerator == "L4"
    assert plain.accelerator_memory_bytes == large.accelerator_memory_bytes == 24 * GB
    assert plain.memory_bytes is not None
    assert large.memory_bytes == 2 * plain.memory_bytes
    price = {
        series: offers_of(catalog, instance_type=f"{series}.{size}", market="on_demand")
        .set_index("region")["usd_per_h"]
        for series in ("g6", "gr6")
    }  # fmt: skip
    assert set(price["g6"].index) == set(price["gr6"].index) >= {"us-east-1", "eu-central-1"}
    assert (price["gr6"] > price["g6"]).all()


def test_a_type_that_the_largest_region_does_not_sell_is_planned_where_it_is_sold(
    engine: Engine,
) -> None:
    """No. 62: types that are not sold in us-east-1 must not vanish."""
    aws = offers_of(engine.catalog, cloud="aws")
    sold_there = set(aws["instance_type"][aws["region"] == "us-east-1"])
    assert set(aws["instance_type"]) - sold_there == {"p5e.48xlarge", "trn2.48xlarge"}
    found = plans(engine, clouds="aws", gpus="Trainium2")
    assert {plan.offer.region for plan in found} == {"us-east-2"}
    with pytest.raises(api.NoFeasiblePlanError) as caught:
        plans(engine, clouds="aws", gpus="Trainium2", regions="us-east-1")
    assert "any regions (1 × trn2.48xlarge" in caught.value.todo


def test_a_reservation_that_is_paid_already_is_planned_first_and_never_beyond_its_size(
    engine: Engine,
) -> None:
    """No. 66: reservations: what is held costs next to nothing more, and is limited."""
    held = "1 x 8 A100-80GB at 0"
    advice = api.advise("llama-2-7b", **JOB, engine=engine, own=held, clouds=["aws", "own"])
    cheapest = advice.picks["cheapest"].plan
    assert (cheapest.offer.cloud, cheapest.offer.usd_per_h) == ("own", 0.01)
    assert cheapest.cluster.machines == 1
    fastest = advice.picks["fastest"].plan
    assert fastest.offer.cloud == "aws"
    assert fastest.hours.value < cheapest.hours.value


def test_a_savings_plan_that_is_held_competes_at_its_rate_and_only_while_it_is_wanted(
    engine: Engine,
) -> None:
    """No. 67: savings plans."""
    own = with_commitments(engine)
    for plan in plans(own, clouds="aws", markets="savings-plan"):
        assert (plan.offer.market, plan.offer.usd_per_h) == ("savings_plan", 14.5)
        assert plan.offer.instance_type == "p4d.24xlarge"
        assert plan.cluster.machines <= 2
        rent = 14.5 * plan.cluster.machines * plan.hours.value
        assert 0 < plan.bill.machines_usd <= rent
    p4d = {"clouds": "aws", "gpus": "A100-40GB"}
    assert "savings_plan" in {plan.offer.market for plan in plans(own, **p4d)}
    listed = plans(own, **p4d, markets=["on-demand", "spot"])
    assert {plan.offer.market for plan in listed} <= {"on_demand", "spot"}


def test_a_reserved_price_that_no_list_has_is_refused_and_planned_once_entered(
    engine: Engine,
) -> None:
    """No. 69: reserved instances of Azure, whose lists we hold without them."""
    with pytest.raises(api.NoFeasiblePlanError, match="clouds azure and markets reserved-1y"):
        plans(engine, clouds="azure", markets="reserved-1y")
    for plan in plans(with_commitments(engine), clouds="azure", markets="savings-plan"):
        assert plan.offer.instance_type == "Standard_ND96isr_H100_v5"
        assert (plan.offer.region, plan.offer.usd_per_h) == ("eastus", 55.0)
        assert plan.cluster.machines == 1
