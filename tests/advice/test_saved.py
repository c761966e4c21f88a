"""Saved plans today: prices and predictions then and now, and how runs came out."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.advice import Engine
from advisor.advice.advise import select
from advisor.advice.job_line import parse_job
from advisor.advice.plans import make_plan
from advisor.advice.saved import Since, outcomes, since
from advisor.domain import Plan, Workload
from advisor.search.constraints import Constraints
from advisor.search.search import SearchOptions, evaluate
from advisor.store import SavedPlan, Store

OPTIONS = SearchOptions()


@pytest.fixture(scope="module")
def job() -> Workload:
    return parse_job("ResNet-50 · 90 epochs · batch 256").job.workload()


@pytest.fixture(scope="module")
def cheapest(engine: Engine, job: Workload) -> Plan:
    table = evaluate(job, engine.catalog, engine.predictor, OPTIONS)
    row = select(table, Constraints()).picks["cheapest"]
    return make_plan(table, row, engine, None)


def saved(plan: Plan, job: Workload, tmp_path: Path) -> SavedPlan:
    with Store.open(f"sqlite:///{tmp_path}/plans.db") as store:
        return store.save_plan(plan, job)


def moved(plan: Plan, **offer: object) -> Plan:
    """Return the plan with another offer."""
    group = plan.cluster.groups[0].model_copy(
        update={name: value for name, value in offer.items() if name in ("instance_type", "region")}
    )
    return plan.model_copy(
        update={
            "offer": plan.offer.model_copy(update=offer),
            "cluster": plan.cluster.model_copy(update={"groups": (group,)}),
        }
    )


def ask(plan: Plan, job: Workload, engine: Engine, tmp_path: Path) -> Since:
    return since(saved(plan, job, tmp_path), engine, OPTIONS)


def test_nothing_changes_while_prices_runs_and_version_are_the_same(
    engine: Engine, job: Workload, cheapest: Plan, tmp_path: Path
) -> None:
    kept = saved(cheapest, job, tmp_path)
    found = since(kept, engine, OPTIONS)
    assert found.offer == cheapest.offer
    assert found.plan is not None
    assert found.plan.cost_usd.value == pytest.approx(cheapest.cost_usd.value, rel=1e-9)
    assert found.plan.hours.value == pytest.approx(cheapest.hours.value, rel=1e-9)
    assert found.plan.layout == cheapest.layout
    assert (found.instead, found.unknown) == (None, "")
    assert (found.catalog_hash, found.data_hash) == (kept.catalog_hash, kept.data_hash)
    assert found.advisor_version == kept.advisor_version


def test_the_price_of_today_and_of_then_are_told_apart(
    engine: Engine, job: Workload, cheapest: Plan, tmp_path: Path
) -> None:
    kept = saved(moved(cheapest, usd_per_h=2 * cheapest.offer.usd_per_h), job, tmp_path)
    found = since(kept, engine, OPTIONS)
    assert found.offer is not None
    assert kept.usd_per_h == pytest.approx(2 * found.offer.usd_per_h)


def test_an_allowance_for_restarts_counts_as_it_did_then(
    engine: Engine, job: Workload, cheapest: Plan, tmp_path: Path
) -> None:
    kept = saved(cheapest, job, tmp_path)
    found = since(kept, engine, SearchOptions(retry_share=0.5))
    assert found.plan is not None
    assert 1.3 < found.plan.hours.value / cheapest.hours.value < 1.6


def test_where_the_offer_is_gone_the_cheapest_place_of_the_same_machines_is_named(
    engine: Engine, job: Workload, cheapest: Plan, tmp_path: Path
) -> None:
    found = ask(moved(cheapest, region="moon-north-1"), job, engine, tmp_path)
    assert (found.offer, found.plan, found.unknown) == (None, None, "")
    assert found.instead is not None
    assert str(found.instead.cluster) == str(cheapest.cluster)
    assert found.instead.cost_usd.value <= cheapest.cost_usd.value * (1 + 1e-9)


def test_a_machine_that_left_the_catalog_is_said(
    engine: Engine, job: Workload, cheapest: Plan, tmp_path: Path
) -> None:
    found = ask(moved(cheapest, instance_type="p99.moonlarge"), job, engine, tmp_path)
    assert (found.offer, found.plan, found.instead) == (None, None, None)
    assert "unknown" in found.unknown
    assert "p99.moonlarge" in found.unknown


@pytest.mark.parametrize("field", ["plan_json", "workload_json"])
def test_what_another_version_saved_is_said_and_the_price_is_still_compared(
    engine: Engine, job: Workload, cheapest: Plan, tmp_path: Path, field: str
) -> None:
    kept = saved(cheapest, job, tmp_path)
    text = getattr(kept, field).replace('"version": 1', '"version": 99')
    found = since(kept.model_copy(update={field: text}), engine, OPTIONS)
    assert found.offer == cheapest.offer
    assert found.plan is None
    assert "version 99 cannot be read" in found.unknown


def test_a_job_that_no_longer_fits_is_said(engine: Engine, cheapest: Plan, tmp_path: Path) -> None:
    large = parse_job("Llama-3-70B · 1 B tokens · sequence 4096 · batch 64").job.workload()
    only = moved(cheapest)
    found = ask(only, large, engine, tmp_path)
    assert found.plan is None
    assert found.unknown == "the job does not fit on these machines"


def test_a_run_is_held_against_the_prediction_of_the_day_it_was_saved(
    job: Workload, cheapest: Plan, tmp_path: Path
) -> None:
    with Store.open(f"sqlite:///{tmp_path}/plans.db") as store:
        key = store.save_plan(cheapest, job).id
        late = store.finish_plan(key, hours=cheapest.hours.high * 1.5, cost_usd=0.0)
        close = store.finish_plan(key, hours=cheapest.hours.value)
        kept = store.plan(key)
    time, bill = outcomes(kept, late)
    assert (time.name, time.inside, bill.name, bill.inside) == ("Time", False, "Bill", False)
    assert time.ratio == pytest.approx(1.5 * cheapest.hours.high / cheapest.hours.value)
    assert bill.ratio == 0
    (alone,) = outcomes(kept, close)
    assert (alone.inside, alone.ratio) == (True, 1.0)
