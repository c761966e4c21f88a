"""What changed between two plans, and what each change did to the bill."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from advisor.advice import advise
from advisor.advice.attribution import difference
from advisor.advice.changes import changes
from advisor.advice.job import Job
from advisor.advice.proposals import propose
from advisor.core.errors import UnknownNameError
from advisor.search.constraints import Constraints
from advisor.search.search import SearchOptions

if TYPE_CHECKING:
    from advisor.advice import Engine
    from advisor.domain import PlanDifference, Proposal

JOB = Job(model="resnet-50", amount=5, unit="epochs", global_batch=256)
LIMITS = Constraints(clouds=frozenset({"aws"}), markets=frozenset({"on_demand"}))
OPTIONS = SearchOptions(most_accelerators=16)


def asked(
    engine: Engine, job: Job = JOB, limits: Constraints = LIMITS, pick: str = "cheapest"
) -> Proposal:
    return propose(advise(job.workload(), engine, options=OPTIONS, limits=limits), pick)


@pytest.fixture(scope="module")
def before(engine: Engine) -> Proposal:
    return asked(engine)


def causes(found: PlanDifference) -> list[str]:
    assert sum(effect.usd for effect in found.effects) == pytest.approx(found.usd, abs=0.02)
    return [effect.cause for effect in found.effects]


def older(proposal: Proposal, share: float, **changed: str) -> Proposal:
    """Return the plan as if its machines had cost `share` of today's price when it was made."""
    plan = proposal.plan
    offer = plan.offer.model_copy(update={"usd_per_h": plan.offer.usd_per_h * share})
    rent = plan.cost_usd.value - (plan.bill.storage_usd or 0.0) - (plan.bill.writes_usd or 0.0)
    cost = plan.cost_usd.value - rent * (1 - share)
    estimate = plan.cost_usd.model_copy(update={"value": cost, "low": 0.5 * cost})
    made = plan.model_copy(update={"offer": offer, "cost_usd": estimate} | changed)
    return proposal.model_copy(update={"plan": made})


def test_nothing_changed_between_a_plan_and_itself(engine: Engine, before: Proposal) -> None:
    found = difference(before, before, engine)
    assert (found.changes, found.effects, found.usd) == ((), (), 0)


def test_a_price_that_rose_is_the_whole_effect(engine: Engine, before: Proposal) -> None:
    then = older(before, 0.8, catalog_hash="older")
    found = difference(then, before, engine)
    assert causes(found) == ["prices"]
    assert found.effects[0].usd == pytest.approx(found.usd, abs=0.02)
    assert found.usd > 0
    assert {change.cause for change in found.changes} == {"prices", "plan"}


def test_what_the_predictor_learnt_is_told_apart_from_the_price(
    engine: Engine, before: Proposal
) -> None:
    slower = before.plan.cost_usd.model_copy(
        update={"value": 1.5 * before.plan.cost_usd.value, "high": 3 * before.plan.cost_usd.high}
    )
    then = before.model_copy(
        update={"plan": before.plan.model_copy(update={"cost_usd": slower, "data_hash": "older"})}
    )
    found = difference(then, before, engine)
    assert causes(found) == ["predictor"]
    assert found.usd == pytest.approx(-before.plan.cost_usd.value / 2, abs=0.05)


def test_twice_the_job_is_an_effect_of_the_job(engine: Engine, before: Proposal) -> None:
    after = asked(engine, replace(JOB, amount=10))
    found = difference(before, after, engine)
    assert causes(found)[0] == "job"
    assert set(causes(found)) <= {"job", "plan"}
    assert {"samples"} <= {change.name for change in found.changes if change.cause == "job"}


def test_a_limit_that_fell_away_is_an_effect_of_the_limits(
    engine: Engine, before: Proposal
) -> None:
    after = asked(engine, limits=Constraints(clouds=frozenset({"aws"})))
    found = difference(before, after, engine)
    assert causes(found) == ["limits"]
    assert found.usd < 0  # spot machines became possible
    (markets,) = [c for c in found.changes if c.name == "markets"]
    assert markets.before == "on_demand"
    assert markets.after == "capacity_block, on_demand, savings_plan, spot"


def test_machines_that_are_gone_are_said(engine: Engine, before: Proposal) -> None:
    offer = before.plan.offer.model_copy(update={"region": "moon-1"})
    then = before.model_copy(update={"plan": before.plan.model_copy(update={"offer": offer})})
    then = then.model_copy(update={"plan": older(then, 0.5).plan})
    found = difference(then, before, engine)
    assert causes(found) == ["prices"]
    assert "no longer offered" in found.effects[0].reason


def test_what_cannot_be_told_apart_is_left_as_a_rest_and_noted(
    engine: Engine, before: Proposal
) -> None:
    after = older(before, 3.0, catalog_hash="of another day")
    found = difference(before, after.model_copy(update={"limits": {}}), engine)
    assert "rest" in causes(found)
    assert any("not made with today's prices" in note for note in found.notes)
    assert any("second plan's limits are not recorded" in note for note in found.notes)


def test_unknown_limits_of_a_file_are_named(engine: Engine, before: Proposal) -> None:
    odd = before.model_copy(update={"limits": {"phase_of_moon": "full"}})
    with pytest.raises(UnknownNameError, match="phase_of_moon"):
        difference(odd, before, engine)


def test_changes_name_fields_and_both_values(before: Proposal) -> None:
    workload = before.workload.model_copy(update={"precision": "fp16"})
    after = before.model_copy(update={"workload": workload})
    (change,) = changes(before, after)
    assert (change.cause, change.name) == ("job", "precision")
    assert (change.before, change.after) == ("bf16", "fp16")
