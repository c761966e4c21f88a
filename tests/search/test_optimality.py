"""The search against evaluating everything, stopped early, and asked for too much."""

from __future__ import annotations

import resource
from itertools import count

import numpy as np
import pandas as pd
import pytest
from plain_search import legal_layouts
from search_fixtures import (  # noqa: F401 - fixtures
    Physics,
    catalog_fixture,
    physics_fixture,
)

from advisor import zoo
from advisor.catalog import Catalog
from advisor.core.errors import InvalidInputError
from advisor.domain import Model, Workload
from advisor.predictor.baseline import step_columns
from advisor.predictor.costs import START
from advisor.predictor.jobs import Jobs
from advisor.predictor.memory import memory_columns, memory_spread, out_of_memory_probability
from advisor.predictor.workload_columns import workload_columns
from advisor.search.layouts import COLUMNS
from advisor.search.search import SearchOptions, evaluate, within
from advisor.search.wide import (
    HARDWARE,
    MEMORY_HARDWARE,
    MOST_CANDIDATES,
    expected_time,
    refuse_too_many,
    wide_pass,
)

SPACES = 200
MARGIN = 0.1


def random_job(draw: np.random.Generator) -> Workload:
    heads = int(draw.choice([6, 8, 12, 16]))
    layers = int(draw.integers(2, 9))
    hidden = heads * int(draw.choice([64, 128]))
    tokens = int(draw.choice([128, 512, 1024]))
    params = 12.0 * layers * hidden**2 * float(draw.choice([1, 20, 200]))
    model = Model(
        name="drawn", family="language", params=params, active_params=params, layers=layers,
        hidden=hidden, heads=heads, kv_heads=heads, vocab=int(draw.choice([1_000, 50_000])),
        tokens_per_sample=tokens, forward_flops_per_sample=2 * params * tokens,
        activation_elements_per_sample=34.0 * tokens * hidden * layers,
        boundary_elements_per_sample=float(tokens * hidden),
    )  # fmt: skip
    return Workload(
        model=model, samples=1e4, global_batch=int(draw.choice([4, 6, 8, 12, 16, 24])),
        precision="bf16", trainable_params=params,
    )  # fmt: skip


def random_machines(draw: np.random.Generator) -> pd.DataFrame:
    number = int(draw.integers(1, 4))
    year = draw.integers(2017, 2025, number).astype(float)
    link = draw.choice([1e10, 5e10, 3e11], number)
    return pd.DataFrame({
        "peak_flops": draw.uniform(2e13, 1e15, number),
        "memory_bytes": draw.choice([16e9, 24e9, 80e9, 192e9], number),
        "memory_bytes_per_s": draw.uniform(3e11, 5e12, number),
        "link_bytes_per_s": link,
        "network_bytes_per_s": draw.choice([1e9, 1e10, 4e11], number),
        "devices_per_node": draw.choice([1.0, 2.0, 4.0, 8.0], number),
        "hardware_year": year,
        "fused_attention": (year >= 2020).astype(float),
        "year": year + 1,
        "multi_node": draw.random(number) < 0.8,
    })  # fmt: skip


def exhaustive(workload: Workload, machine: dict[str, float], most: int) -> dict[int, float]:
    """Every legal layout of every count as one flat table, none left out: the best by count."""
    per_node = int(machine["devices_per_node"])
    tried = most // per_node if machine["multi_node"] else 1
    rows = [
        (machines, *layout)
        for machines in range(1, tried + 1)
        for layout in legal_layouts(workload, per_node, machines * per_node)
    ]
    if not rows:
        return {}
    of, *columns = np.array(rows, dtype=float).T
    layout = dict(zip(COLUMNS, columns, strict=True))
    jobs = Jobs.from_columns(
        **workload_columns(workload), **{name: machine[name] for name in HARDWARE}, **layout
    )
    used = memory_columns(jobs).used_bytes
    risk = out_of_memory_probability(used, jobs.memory_bytes, memory_spread(jobs))
    expected = expected_time(step_columns(jobs, START).total_s, risk)
    expected = np.where(used <= (1 - MARGIN) * machine["memory_bytes"], expected, np.inf)
    best = {int(n): float(expected[of == n].min()) for n in np.unique(of)}
    return {n: time for n, time in best.items() if np.isfinite(time)}


def test_on_200_random_small_spaces_the_optimum_is_that_of_evaluating_everything() -> None:
    draw = np.random.default_rng(20240607)
    feasible = 0
    for _ in range(SPACES):
        workload, hardware = random_job(draw), random_machines(draw)
        short = wide_pass(workload, hardware, START, most_devices=8, memory_margin=MARGIN)
        used = memory_columns(short.jobs).used_bytes
        risk = out_of_memory_probability(used, short.jobs.memory_bytes, memory_spread(short.jobs))
        times = expected_time(step_columns(short.jobs, START).total_s, risk)
        found: dict[tuple[int, int], float] = {}
        for row, machines, seconds in zip(short.hardware, short.machines, times, strict=True):
            key = int(row), int(machines)
            found[key] = min(found.get(key, np.inf), float(seconds))
        best = {
            (row, machines): seconds
            for row, machine in enumerate(hardware.to_dict("records"))
            for machines, seconds in exhaustive(workload, machine, 8).items()
        }
        assert found == pytest.approx(best, rel=1e-12)
        feasible += bool(best)
    assert feasible > SPACES / 2


def test_memory_depends_on_nothing_else_of_a_machine() -> None:
    draw = np.random.default_rng(7)
    workload, hardware = random_job(draw), random_machines(draw).iloc[[0]]
    layout = dict.fromkeys(COLUMNS, 1.0)
    facts = {name: hardware[name].iloc[0] for name in HARDWARE}
    fixed = workload_columns(workload)
    plain = memory_columns(Jobs.from_columns(**fixed, **facts, **layout)).used_bytes[0]
    for name in set(HARDWARE) - set(MEMORY_HARDWARE):
        other = {**facts, name: facts[name] * 2}
        assert memory_columns(Jobs.from_columns(**fixed, **other, **layout)).used_bytes[0] == plain


def test_a_stopped_search_returns_the_best_so_far_and_says_so(
    catalog: Catalog, physics: Physics
) -> None:
    draw = np.random.default_rng(3)
    workload = random_job(draw)
    whole = evaluate(workload, catalog, physics, SearchOptions(most_accelerators=16))
    assert whole.complete
    one, again = (
        evaluate(workload, catalog, physics, SearchOptions(most_accelerators=16), stop=after(1))
        for _ in range(2)
    )
    assert not one.complete
    assert 0 < len(one.plans) < len(whole.plans)
    pd.testing.assert_frame_equal(one.plans, again.plans)
    keys = ["offer", "machines"]
    both = one.plans.merge(whole.plans, on=keys, suffixes=("", "_whole"))
    assert len(both) == len(one.plans)
    assert both["hours"].to_numpy() == pytest.approx(both["hours_whole"].to_numpy())


def after(blocks: int) -> object:
    """Say yes from so many blocks on."""
    number = count(1)
    return lambda: next(number) >= blocks


def test_the_clock_stops_a_search_but_not_before_its_first_block(
    catalog: Catalog, physics: Physics
) -> None:
    workload = random_job(np.random.default_rng(3))
    found = evaluate(workload, catalog, physics, SearchOptions(), stop=within(0.0))
    assert not found.complete
    assert len(found.plans)
    assert not within(3600.0)()


def test_a_billion_candidates_are_refused_with_an_estimate() -> None:
    refuse_too_many(MOST_CANDIDATES)
    with pytest.raises(InvalidInputError, match=r"1,000,000,000 candidates, about 250 s"):
        refuse_too_many(1_000_000_000)
    workload = zoo.build_workload(zoo.resolve("llama-2-7b"), steps=10, global_batch=1024)
    machine = random_machines(np.random.default_rng(5)).iloc[[0]].assign(devices_per_node=8.0)
    shapes = machine.loc[machine.index.repeat(300_000)].reset_index(drop=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InvalidInputError, match="Allow fewer accelerators"):
        wide_pass(workload, shapes, START, most_devices=512, memory_margin=MARGIN)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown * 1024 < 200e6
