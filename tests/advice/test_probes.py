"""What to measure next, for a job on the shipped catalog."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from advisor import zoo
from advisor.advice import Engine, advise, select
from advisor.advice.probe_words import advice_words, now_words, place_words
from advisor.advice.probes import DURATION_S, FEWEST_STEPS, SHOWN, what_to_measure
from advisor.domain import Advice, Cluster, Probes, Profile, Provenance, Workload
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


def test_runs_are_within_the_limits_and_priced_with_their_start(
    found: Probes, table: Evaluated, engine: Engine
) -> None:
    assert 1 <= len(found.probes) <= SHOWN
    for run in (run for probe in found.probes for run in probe.runs):
        (group,) = run.cluster.groups
        assert group.cloud in {"aws", "gcp"}
        assert group.count <= 16
        assert run.offer.market in {"on_demand", "spot"}
        place = (group.cloud, group.instance_type, group.region)
        offer = engine.catalog.offer(*place, run.offer.market)
        hours = (run.duration_s + run.wait_s) / 3600
        assert run.cost_usd == pytest.approx(group.count * offer.usd_per_h * hours)
        assert run.wait_s > 0
        plans = table.plans
        same = (plans["instance_type"] == group.instance_type) & (plans["machines"] == group.count)
        step_s = table.best.prediction.step_s[plans["entry"][same].iloc[0]]
        assert run.duration_s == pytest.approx(max(DURATION_S, FEWEST_STEPS * step_s))


def test_the_best_pair_comes_first_and_is_of_two_types(found: Probes) -> None:
    net = [found.regret_usd - probe.regret_usd - probe.cost_usd for probe in found.probes]
    assert net == sorted(net, reverse=True)
    assert [probe.pays for probe in found.probes] == [value > 0 for value in net]
    for probe in found.probes:
        first, second = (run.cluster.groups[0].accelerator for run in probe.runs)
        assert first != second
        assert probe.wait_s == max(run.wait_s for run in probe.runs)
    assert all(probe.regret_usd <= found.regret_usd for probe in found.probes)


def test_of_one_type_of_accelerator_two_sizes_are_measured(
    table: Evaluated, engine: Engine
) -> None:
    limits = replace(LIMITS, accelerators=frozenset({"H100"}))
    probes = what_to_measure(table, select(table, limits).rows, limits, engine)
    for probe in probes.probes:
        first, second = (run.cluster for run in probe.runs)
        assert first.groups[0].accelerator == second.groups[0].accelerator == "H100"
        assert first.accelerators != second.accelerators


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


def test_what_was_measured_leaves_less_to_regret(
    found: Probes, table: Evaluated, workload: Workload, engine: Engine
) -> None:
    best = found.best
    assert best is not None
    runs = [_measured(run.cluster, table) for run in best.runs]
    calibrated = engine.calibrated(runs, workload)
    again = evaluate(workload, calibrated.catalog, calibrated.predictor, SearchOptions())
    after = what_to_measure(again, select(again, LIMITS).rows, LIMITS, calibrated)
    assert after.regret_usd < found.regret_usd
    if after.best is not None:
        assert after.best.runs != best.runs


def _measured(cluster: Cluster, table: Evaluated) -> Profile:
    """Return a run that took exactly what was predicted."""
    (group,) = cluster.groups
    plans = table.plans
    same = (plans["instance_type"] == group.instance_type) & (plans["machines"] == group.count)
    step_s = float(table.best.prediction.step_s[plans["entry"][same].iloc[0]])
    return Profile(
        model="llama-2-7b", family="language", accelerator=group.accelerator,
        accelerators=cluster.accelerators, nodes=group.count, global_batch=1024,
        sample_size=4096, precision="bf16", step_time_s=step_s, framework="pytorch",
        instance_type=group.instance_type, provenance=Provenance(source="own trace"),
    )  # fmt: skip


def test_the_advice_has_them_and_says_what_to_do(workload: Workload, engine: Engine) -> None:
    advice = advise(workload, engine, limits=LIMITS)
    assert advice.probes is not None
    assert Advice.from_json(advice.to_json()) == advice
    best = advice.probes.best
    assert best is not None
    said = advice_words(advice.probes)
    assert said.startswith("Measure first: 5\xa0min on ")
    assert all(place_words(run) in said for run in best.runs)
