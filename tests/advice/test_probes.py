"""What to measure next, for a job on the shipped catalog."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from advisor import zoo
from advisor.advice import Engine, advise, select
from advisor.advice.probe_words import advice_words, now_words, place_words
from advisor.advice.probes import DURATION_S, FEWEST_STEPS, SHOWN, what_to_measure
from advisor.domain import Advice, Probes, Profile, Provenance, Workload
from advisor.search.constraints import Constraints
from advisor.search.search import Evaluated, SearchOptions, evaluate

LIMITS = Constraints(deadline_h=72.0, most_machines=16, clouds=frozenset({"aws", "gcp"}))


@pytest.fixture(scope="module")
def workload() -> Workload:
    return zoo.build_workload(
        zoo.resolve("llama-2-7b"), tokens=10e9, sample_size=4096, global_batch=1024
    )


@pytest.fixture(scope="module")
def table(workload: Workload, engine: Engine) -> Evaluated:
    return evaluate(workload, engine.catalog, engine.predictor, SearchOptions())


@pytest.fixture(scope="module")
def found(table: Evaluated, engine: Engine) -> Probes:
    return what_to_measure(table, select(table, LIMITS).rows, LIMITS, engine)


def test_probes_run_within_the_limits_and_are_priced_with_their_start(
    found: Probes, table: Evaluated, engine: Engine
) -> None:
    assert 1 <= len(found.probes) <= SHOWN
    for probe in found.probes:
        (group,) = probe.cluster.groups
        assert group.cloud in {"aws", "gcp"}
        assert group.count <= 16
        assert probe.offer.market in {"on_demand", "spot"}
        offer = engine.catalog.offer(
            group.cloud, group.instance_type, group.region, probe.offer.market
        )
        hours = (probe.duration_s + probe.wait_s) / 3600
        assert probe.cost_usd == pytest.approx(group.count * offer.usd_per_h * hours)
        assert probe.wait_s > 0
        plans = table.plans
        same = (plans["instance_type"] == group.instance_type) & (plans["machines"] == group.count)
        step_s = table.best.prediction.step_s[plans["entry"][same].iloc[0]]
        assert probe.duration_s == pytest.approx(max(DURATION_S, FEWEST_STEPS * step_s))


def test_the_best_comes_first_and_one_is_shown_of_each_accelerator(found: Probes) -> None:
    net = [found.regret_usd - probe.regret_usd - probe.cost_usd for probe in found.probes]
    assert net == sorted(net, reverse=True)
    assert [probe.pays for probe in found.probes] == [value > 0 for value in net]
    devices = [probe.cluster.groups[0].accelerator for probe in found.probes]
    assert len(set(devices)) == len(devices)
    assert all(probe.regret_usd <= found.regret_usd for probe in found.probes)


def test_the_same_question_gets_the_same_answer(
    found: Probes, table: Evaluated, engine: Engine
) -> None:
    assert what_to_measure(table, select(table, LIMITS).rows, LIMITS, engine) == found


def test_with_one_plan_left_nothing_can_be_chosen_wrong_and_no_probe_pays(
    table: Evaluated, engine: Engine
) -> None:
    cheapest = np.array([select(table, LIMITS).picks["cheapest"]])
    alone = what_to_measure(table, cheapest, LIMITS, engine)
    assert (alone.plans, alone.regret_usd, alone.wrong_probability) == (1, 0.0, 0.0)
    assert alone.best is None
    assert advice_words(alone).startswith("No probe pays: ")
    assert "one plan" in now_words(alone)


def test_of_a_small_job_no_probe_pays(engine: Engine) -> None:
    small = zoo.build_workload(zoo.resolve("resnet-50"), steps=20, global_batch=256)
    limits = replace(LIMITS, markets=frozenset({"on_demand"}))
    evaluated = evaluate(small, engine.catalog, engine.predictor, SearchOptions())
    probes = what_to_measure(evaluated, select(evaluated, limits).rows, limits, engine)
    assert probes.best is None
    assert all(not probe.pays for probe in probes.probes)
    assert "would cost" in advice_words(probes)


def test_what_was_measured_is_not_worth_measuring_again(
    found: Probes, table: Evaluated, workload: Workload, engine: Engine
) -> None:
    best = found.best
    assert best is not None
    (group,) = best.cluster.groups
    plans = table.plans
    same = (plans["instance_type"] == group.instance_type) & (plans["machines"] == group.count)
    step_s = float(table.best.prediction.step_s[plans["entry"][same].iloc[0]])
    run = Profile(
        model="llama-2-7b", family="language", accelerator=group.accelerator,
        accelerators=best.cluster.accelerators, nodes=group.count, global_batch=1024,
        sample_size=4096, precision="bf16", step_time_s=step_s, framework="pytorch",
        instance_type=group.instance_type, provenance=Provenance(source="own trace"),
    )  # fmt: skip
    calibrated = engine.calibrated([run], workload)
    again = evaluate(workload, calibrated.catalog, calibrated.predictor, SearchOptions())
    after = what_to_measure(again, select(again, LIMITS).rows, LIMITS, calibrated)
    shown = {str(p.cluster) for p in after.probes if p.pays}
    assert after.best is None or str(after.best.cluster) != str(best.cluster)
    assert after.regret_usd < found.regret_usd or str(best.cluster) not in shown


def test_the_advice_has_them_and_says_what_to_do(workload: Workload, engine: Engine) -> None:
    advice = advise(workload, engine, limits=LIMITS)
    assert advice.probes is not None
    assert Advice.from_json(advice.to_json()) == advice
    best = advice.probes.best
    assert best is not None
    said = advice_words(advice.probes)
    assert said.startswith("Measure first: 5\xa0min on ")
    assert place_words(best) in said
