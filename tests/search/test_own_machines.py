"""Own machines in the search: never more than there are, priced as the user says."""

from __future__ import annotations

import numpy as np
import pytest
from search_fixtures import (  # noqa: F401 - fixtures
    Physics,
    llama_fixture,
    physics_fixture,
)

from advisor.catalog import load
from advisor.catalog.own import DISCOUNTS, MACHINES
from advisor.domain import Workload
from advisor.search.constraints import Constraints, apply
from advisor.search.relax import relaxations
from advisor.search.search import SearchOptions, evaluate
from advisor.testing.own_lists import AWS_DISCOUNT, BOX, LAB, machines_csv, write

OPTIONS = SearchOptions(most_accelerators=64)


@pytest.mark.parametrize("available", [1, 3, 4])
def test_a_cluster_is_never_larger_than_the_machines_there_are(
    llama: Workload, physics: Physics, available: int
) -> None:
    write(MACHINES, machines_csv(LAB.replace(",4,192", f",{available},192")))
    plans = evaluate(llama, load(), physics, OPTIONS).plans
    own = (plans["cloud"] == "own").to_numpy()
    mask, removed = apply(plans, Constraints(markets=None))
    left = plans[mask & own]
    assert left["machines"].max() == {1: 1, 3: 2, 4: 4}[available]
    assert removed["available"] == (own & (plans["machines"] > available)).sum() > 0
    assert mask[~own & plans["rankable"].to_numpy()].all()


def test_no_relaxation_suggests_more_machines_than_there_are(
    llama: Workload, physics: Physics
) -> None:
    write(MACHINES, machines_csv(LAB))
    plans = evaluate(llama, load(), physics, OPTIONS).plans
    limits = Constraints(clouds=frozenset({"own"}), deadline_h=0.01)
    for way in relaxations(plans, limits):
        plan = plans.iloc[way.plan]
        assert plan["cloud"] != "own" or plan["machines"] <= 4


def test_machines_without_a_network_are_used_one_at_a_time(
    llama: Workload, physics: Physics
) -> None:
    write(MACHINES, machines_csv(LAB.replace("NVLink,400", "NVLink,")))
    plans = evaluate(llama, load(), physics, OPTIONS).plans
    assert set(plans.loc[plans["cloud"] == "own", "machines"]) == {1}


def test_without_own_machines_the_account_is_as_before(llama: Workload, physics: Physics) -> None:
    _, removed = apply(evaluate(llama, load(), physics, OPTIONS).plans, Constraints())
    assert "available" not in removed


def test_a_discount_changes_the_rent_by_exactly_its_share(
    llama: Workload, physics: Physics
) -> None:
    write(MACHINES, machines_csv(BOX))
    before = evaluate(llama, load(), physics, OPTIONS)
    write(DISCOUNTS, AWS_DISCOUNT)
    after = evaluate(llama, load(), physics, OPTIONS)
    plans = before.plans
    lower = ((plans["cloud"] == "aws") & (plans["market"] == "on_demand")).to_numpy()
    share = np.where(lower, 0.88, 1.0)
    assert lower.any()
    for name in ("machines_usd", "startup_usd", "retries_usd"):
        expected = getattr(before.bill, name) * share
        assert getattr(after.bill, name) == pytest.approx(expected)
    assert after.bill.storage_usd == pytest.approx(before.bill.storage_usd, nan_ok=True)
    assert after.plans["hours"].to_numpy() == pytest.approx(plans["hours"].to_numpy())
