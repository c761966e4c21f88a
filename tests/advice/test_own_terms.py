"""Advice by the user's own machines, discounts and credits."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor import catalog as catalogs
from advisor import zoo
from advisor.advice import Engine
from advisor.advice.advise import advise
from advisor.advice.exports import front_csv
from advisor.advice.limits import clouds_named, listed_offers, usual_clouds
from advisor.advice.terms import sentences
from advisor.catalog.own import CREDITS, DISCOUNTS, MACHINES, OwnTable
from advisor.domain import Advice, Credits, Estimate
from advisor.predictor.hardware import facts_hash
from advisor.search.constraints import Constraints
from advisor.testing.own_lists import AWS_CREDITS, AWS_DISCOUNT, LAB, machines_csv, write

AWS_ON_DEMAND = Constraints(clouds=frozenset({"aws"}), markets=frozenset({"on_demand"}))


def advice(engine: Engine, limits: Constraints, **lists: str) -> Advice:
    """Advise on a week of Llama-2-7B with the lists given."""
    for name, text in lists.items():
        table: OwnTable = {"machines": MACHINES, "discounts": DISCOUNTS, "credits": CREDITS}[name]
        write(table, text)
    own = dataclasses.replace(engine, catalog=catalogs.load())
    workload = zoo.build_workload(
        zoo.resolve("llama-2-7b"), tokens=10e9, sample_size=4096, global_batch=1024
    )
    return advise(workload, own, limits=limits)


def test_a_cheap_own_machine_is_picked_and_never_more_than_there_are(engine: Engine) -> None:
    given_ = advice(engine, Constraints(), machines=machines_csv(LAB.replace("9.50", "0.50")))
    plan = given_.picks["cheapest"].plan
    assert (plan.offer.cloud, plan.offer.instance_type) == ("own", "lab-h100")
    assert plan.offer.source == "your own list"
    assert plan.cluster.machines <= 4
    own = [one for one in given_.pareto if one.offer.cloud == "own"]
    assert own
    assert all(one.cluster.machines <= 4 for one in own)


def test_an_own_machine_is_no_reason_to_train_again(engine: Engine) -> None:
    write(MACHINES, machines_csv(LAB))
    assert facts_hash(catalogs.load()) == facts_hash(engine.catalog)


def test_a_discount_is_in_the_bill_and_the_list_price_is_said(engine: Engine) -> None:
    before = advice(engine, AWS_ON_DEMAND).picks["cheapest"].plan
    given_ = advice(engine, AWS_ON_DEMAND, discounts=AWS_DISCOUNT)
    after = given_.picks["cheapest"].plan
    assert after.cluster == before.cluster
    assert after.bill.machines_usd == pytest.approx(0.88 * before.bill.machines_usd, abs=0.01)
    (said,) = sentences(after)
    assert said.startswith("Price with your discount 12 %: $")
    assert after.offer.list_usd_per_h == before.offer.usd_per_h
    assert sentences(before) == ()
    assert "discount_percent,to_pay_usd" in front_csv(given_).splitlines()[0]
    listed = listed_offers(
        catalogs.load(),
        **dict.fromkeys(["clouds", "areas", "regions", "families", "accelerators", "markets"]),
    )
    assert (listed["discount_percent"] > 0).any()


def test_credits_are_said_and_change_no_rank(engine: Engine) -> None:
    before = advice(engine, AWS_ON_DEMAND)
    after = advice(engine, AWS_ON_DEMAND, credits=AWS_CREDITS)
    for name, pick in after.picks.items():
        plan = pick.plan
        assert plan.cluster == before.picks[name].plan.cluster
        assert plan.cost_usd == before.picks[name].plan.cost_usd
        assert plan.credits is not None
        paid = plan.credits.used_usd.value + plan.credits.to_pay_usd.value
        assert paid == pytest.approx(plan.cost_usd.value)
        (said,) = sentences(plan)
        covered = plan.credits.to_pay_usd.high == 0
        assert said == "Your $500 of aws credits pay all of it." or not covered
        assert said.startswith("After your $500 of aws credits: $") or covered
    google = Constraints(clouds=frozenset({"gcp"}))
    assert advice(engine, google).picks["cheapest"].plan.credits is None


@given(
    bill=st.tuples(*[st.floats(0, 1e6)] * 3).map(sorted),
    available=st.floats(0.01, 1e6),
)
def test_credits_and_what_is_left_to_pay_are_the_bill_at_every_bound(
    bill: list[float], available: float
) -> None:
    low, value, high = bill
    cost = Estimate(value=value, low=low, high=high, unit="USD", basis="interpolated")
    credits_ = Credits.of_bill(cost, available)
    for name in ("low", "value", "high"):
        used, left = (getattr(part, name) for part in (credits_.used_usd, credits_.to_pay_usd))
        assert used + left == pytest.approx(getattr(cost, name))
        assert used <= available
        assert left == 0 or used == available
    assert credits_.to_pay_usd.level == cost.level


def test_own_machines_are_searched_unless_other_clouds_are_named() -> None:
    assert usual_clouds(catalogs.load()) == {"aws", "gcp", "azure"}
    write(MACHINES, machines_csv(LAB))
    catalog = catalogs.load()
    assert clouds_named([], catalog) == {"aws", "gcp", "azure", "own"}
    assert clouds_named(["Own"], catalog) == {"own"}
    assert clouds_named(["aws"], catalog) == {"aws"}
