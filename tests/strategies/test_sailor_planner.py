"""Sailor's planner: the published scenarios, and what any plan must satisfy."""

from __future__ import annotations

import time
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sailor_tables import LAYERS, write_tables

from advisor.core.errors import InvalidInputError, NoFeasiblePlanError
from advisor.strategies.sailor import Column, ColumnPlan, Goal, score, search
from advisor.testing.sailor import as_json, judge
from advisor.testing.sailor_tables import Case, Tables, cases

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.strategies.sailor import Space

SCENARIOS = (
    "hom_32", "hom_80", "hom_128", "het_32_96", "het_80_240", "het_128_384", "geo5_32", "geo5_80",
    "geo5_128", "cost_floor_512", "budget_512",
)  # fmt: skip


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    folder = tmp_path_factory.mktemp("tables")
    write_tables(folder)
    return Tables.read(folder)


@pytest.fixture(scope="module")
def board(reference: Path) -> Tables:
    return Tables.read(reference / "data/boards")


@pytest.fixture(scope="module")
def scenarios(reference: Path) -> dict[str, Case]:
    found = cases(reference / "data/boards/sailor_search.csv")
    return {case.name: case for case in found}


def test_the_simulator_gives_every_published_plan_its_published_time_and_cost(
    board: Tables, scenarios: dict[str, Case]
) -> None:
    judged = 0
    for case in scenarios.values():
        for planner, plan in case.plans.items():
            if len(plan["pipelines"]) > 1:
                continue  # a plan of ours has one pipeline
            said = judge(board, plan, case.available)
            published = case.others.loc[planner]
            assert said.fits
            assert said.iteration_s == pytest.approx(published["iter_s"], rel=1e-12)
            assert said.usd == pytest.approx(published["usd_per_iter"], rel=1e-12)
            judged += 1
    assert judged > 30


def test_a_plan_with_more_accelerators_than_there_are_does_not_fit(
    board: Tables, scenarios: dict[str, Case]
) -> None:
    plan = scenarios["hom_128"].plans["Sailor"]
    assert judge(board, plan, {"A100-40_us-central1-a": 128}).fits
    assert not judge(board, plan, {"A100-40_us-central1-a": 127}).fits


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_published_plan_is_better(board: Tables, scenarios: dict[str, Case], name: str) -> None:
    case = scenarios[name]
    begin = time.process_time()  # other processes do not count
    space = board.space(case.available, case.goal)
    found = search(space)
    assert time.process_time() - begin < 2.0
    said = judge(board, as_json(space, found.plan), case.available)
    assert said.fits
    assert said.iteration_s <= case.goal.most_s
    assert said.usd <= case.goal.most_usd
    figure = case.figure(said.iteration_s, said.usd)
    assert figure <= case.to_beat * (1 + 1e-12)
    if name in {"hom_32", "cost_floor_512"}:
        assert figure < 0.999 * case.to_beat


@pytest.mark.parametrize(
    "available",
    [
        {"quick_east": 8},
        {"quick_east": 6, "slow_east": 13},
        {"quick_east": 8, "slow_north": 16, "slow_far": 8},
        {"quick_east": 8, "quick_north": 4, "quick_far": 8},
    ],
    ids=str,
)
@pytest.mark.parametrize("goal", [Goal(), Goal(cheapest=True, most_s=60.0)], ids=str)
def test_a_plan_scores_as_the_simulator_judges_it(
    own: Tables, available: dict[str, int], goal: Goal
) -> None:
    space = own.space(available, goal)
    found = search(space)
    said = judge(own, as_json(space, found.plan), available)
    assert said.fits
    assert found.score.fits
    assert found.score.iteration_s == pytest.approx(said.iteration_s, rel=1e-12)
    assert found.score.usd == pytest.approx(said.usd, rel=1e-12)


def every_plan(space: Space) -> list[ColumnPlan]:
    """All plans with up to three stages whose replicas are alike, in one zone."""
    options = [(pool, tensor) for pool in range(len(space.pools)) for tensor in (1, 2, 4)]
    inner = [cut for stages in range(3) for cut in combinations(range(1, LAYERS), stages)]
    cuts = [(0, *cut, LAYERS) for cut in inner]
    plans = []
    for cut, size in product(cuts, (1, 2, 4)):
        for members in product(options, repeat=len(cut) - 1):
            need = np.bincount([pool for pool, _ in members], [t for _, t in members],
                               minlength=len(space.pools))  # fmt: skip
            room = np.array([pool.devices for pool in space.pools])
            most = int((room[need > 0] // need[need > 0]).min())
            plans += [ColumnPlan(size, cut, (Column(members, n),)) for n in range(1, most + 1)]
    return plans


@pytest.mark.parametrize(
    ("available", "goal"),
    [
        ({"quick_east": 6}, Goal()),
        ({"slow_east": 7}, Goal(cheapest=True)),
        ({"quick_east": 3, "slow_east": 4}, Goal()),
        ({"quick_east": 3, "slow_east": 4}, Goal(cheapest=True, most_s=24.0)),
        ({"quick_east": 4, "slow_east": 4}, Goal(most_usd=0.08)),
    ],
    ids=str,
)
def test_on_small_spaces_no_plan_of_all_is_better(
    own: Tables, available: dict[str, int], goal: Goal
) -> None:
    space = own.space(available, goal)
    best = np.inf
    for plan in every_plan(space):
        scored = score(space, plan)
        key = goal.key(scored.iteration_s, scored.usd)[0]
        if key < best and scored.fits:
            best = key
    assert np.isfinite(best)
    assert search(space).key[0] <= best * (1 + 1e-9)


def test_more_accelerators_are_never_slower(own: Tables) -> None:
    counts = [{"quick_east": 8}, {"quick_east": 8, "slow_east": 8},
              {"quick_east": 8, "slow_east": 8, "quick_far": 8}]  # fmt: skip
    times = [search(own.space(available)).score.iteration_s for available in counts]
    assert times == sorted(times, reverse=True)
    assert times[1] < times[0]


def test_a_budget_and_a_rate_floor_are_kept_or_refused(own: Tables) -> None:
    available = {"quick_east": 8, "slow_east": 8}
    free = search(own.space(available)).score
    cheap = search(own.space(available, Goal(cheapest=True))).score
    assert cheap.usd < free.usd
    halfway = (cheap.usd + free.usd) / 2
    held = search(own.space(available, Goal(most_usd=halfway))).score
    assert held.usd <= halfway
    assert free.iteration_s <= held.iteration_s <= cheap.iteration_s
    with pytest.raises(NoFeasiblePlanError, match="within the limits"):
        search(own.space(available, Goal(most_s=free.iteration_s / 10)))


def test_equal_questions_have_equal_plans(own: Tables) -> None:
    available = {"quick_east": 8, "slow_east": 12}
    first, again = (search(own.space(available)) for _ in range(2))
    assert first.plan == again.plan


def test_a_model_too_large_for_all_has_no_plan(own: Tables) -> None:
    with pytest.raises(NoFeasiblePlanError):
        search(own.space({"slow_east": 1}))


def test_accelerators_without_layer_times_are_named(own: Tables) -> None:
    space = own.space({"quick_east": 1})
    pool = space.pools[0]
    unknown = type(pool)(zone="east", gpu="other", devices=1, devices_per_node=1, memory_bytes=1.0)
    with pytest.raises(InvalidInputError, match="no layer times of other"):
        type(space)(pools=(unknown,), costs=space.costs, links=space.links, global_batch=8)
