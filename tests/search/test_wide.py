"""The wide pass against the same search written as a loop."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from plain_search import plain_search
from search_fixtures import (  # noqa: F401 - fixtures
    catalog_fixture,
    physics_fixture,
)

from advisor import zoo
from advisor.catalog import Catalog
from advisor.predictor.baseline import step_columns
from advisor.predictor.costs import START, kind_of_family
from advisor.predictor.memory import memory_columns, memory_spread, out_of_memory_probability
from advisor.search.exact import best_layouts
from advisor.search.hardware import hardware_table
from advisor.search.layouts import machine_counts
from advisor.search.wide import KEEP, Shortlist, expected_time, wide_pass

JOBS = {
    "language": ("llama-2-7b", {"steps": 100, "sample_size": 2048, "global_batch": 48}),
    "adapters": ("llama-2-7b", {"steps": 100, "global_batch": 16, "tuning": "qlora"}),
    "mixture": ("mixtral-8x7b", {"steps": 100, "global_batch": 8, "tuning": "lora"}),
    "encoder": ("bert-large", {"steps": 100, "global_batch": 64}),
    "images": ("resnet-50", {"epochs": 1, "global_batch": 96}),
    "diffusion": ("dit-xl-2", {"epochs": 1, "global_batch": 32}),
}
MOST_DEVICES = 16


@pytest.fixture(scope="module")
def hardware(catalog: Catalog) -> pd.DataFrame:
    """Seven shapes: one to sixteen devices, small and large memory, two without a network."""
    shapes, _ = hardware_table(catalog, "bf16")
    of_size = [shapes[shapes["devices_per_node"] == n] for n in (1, 2, 4, 8, 16)]
    chosen = pd.concat([of_size[0].iloc[[0, 9]], *(part.iloc[[0]] for part in of_size[1:])])
    alone = shapes[~shapes["multi_node"]].iloc[[0, -1]]
    return pd.concat([chosen, alone], ignore_index=True)


@pytest.mark.parametrize("name", JOBS)
def test_the_wide_pass_finds_what_a_loop_over_all_candidates_finds(
    name: str, hardware: pd.DataFrame
) -> None:
    model, amounts = JOBS[name]
    workload = zoo.build_workload(zoo.resolve(model), **amounts)
    sizes = hardware["devices_per_node"].astype(int).unique()
    counts = {int(size): machine_counts(int(size), MOST_DEVICES) for size in sizes}
    plain = plain_search(workload, hardware, START, counts, memory_margin=0.1)
    short = wide_pass(workload, hardware, START, most_devices=MOST_DEVICES, memory_margin=0.1)
    assert sum(plain.considered) > 300
    assert short.considered.tolist() == plain.considered
    assert short.too_large.tolist() == plain.too_large
    assert best_of(short, START) == pytest.approx(plain.best, rel=1e-12)


def best_of(short: Shortlist, costs: object) -> dict[tuple[int, int], float]:
    """Return the best expected time of each hardware row and count of a shortlist."""
    used = memory_columns(short.jobs).used_bytes
    risk = out_of_memory_probability(used, short.jobs.memory_bytes, memory_spread(short.jobs))
    times = expected_time(step_columns(short.jobs, costs).total_s, risk)
    best: dict[tuple[int, int], float] = {}
    for row, count, time in zip(short.hardware, short.machines, times, strict=True):
        key = int(row), int(count)
        best[key] = min(best.get(key, np.inf), float(time))
    return best


def test_up_to_a_few_layouts_of_each_shape_and_count_are_kept(hardware: pd.DataFrame) -> None:
    workload = zoo.build_workload(zoo.resolve("llama-2-7b"), steps=10, global_batch=64)
    short = wide_pass(workload, hardware, START, most_devices=32, memory_margin=0.1)
    kept = pd.Series(1, index=pd.MultiIndex.from_arrays([short.hardware, short.machines]))
    assert kept.groupby(level=[0, 1]).sum().max() <= KEEP


def test_machines_without_a_known_network_are_tried_alone_only(hardware: pd.DataFrame) -> None:
    workload = zoo.build_workload(zoo.resolve("resnet-50"), epochs=1, global_batch=64)
    short = wide_pass(workload, hardware, START, most_devices=64, memory_margin=0.1)
    alone = ~hardware["multi_node"].to_numpy()[short.hardware]
    assert alone.any()
    assert (short.machines[alone] == 1).all()
    assert short.machines[~alone].max() > 1
    asked = wide_pass(workload, hardware, START, most_devices=64, memory_margin=0.1, count=2)
    assert not (~hardware["multi_node"].to_numpy()[asked.hardware]).any()
    assert (asked.considered[~hardware["multi_node"]] == 0).all()


def test_a_larger_margin_leaves_out_more(hardware: pd.DataFrame) -> None:
    workload = zoo.build_workload(zoo.resolve("llama-2-7b"), steps=10, global_batch=64)
    tight, wide = (
        wide_pass(workload, hardware, START, most_devices=16, memory_margin=margin)
        for margin in (0.0, 0.5)
    )
    assert (wide.too_large >= tight.too_large).all()
    assert wide.too_large.sum() > tight.too_large.sum()
    assert wide.considered.tolist() == tight.considered.tolist()


def test_nothing_that_fits_gives_an_empty_shortlist(
    hardware: pd.DataFrame, physics: object
) -> None:
    workload = zoo.build_workload(zoo.resolve("llama-3-405b"), steps=10, global_batch=8)
    short = wide_pass(workload, hardware, START, most_devices=8, memory_margin=0.1)
    assert len(short.jobs) == 0
    assert short.considered.tolist() == short.too_large.tolist()
    assert short.considered.sum() > 0
    assert len(best_layouts(short, physics).machines) == 0


def test_a_batch_that_divides_over_nothing_considers_nothing(hardware: pd.DataFrame) -> None:
    workload = zoo.build_workload(zoo.resolve("resnet-50"), epochs=1, global_batch=7)
    many = hardware[hardware["devices_per_node"] == 8]
    short = wide_pass(workload, many, START, most_devices=64, memory_margin=0.1)
    assert len(short.jobs) == 0
    assert short.considered.sum() == 0


def test_the_exact_pass_keeps_one_layout_of_each_shape_and_count(
    hardware: pd.DataFrame, physics: object
) -> None:
    workload = zoo.build_workload(zoo.resolve("bert-large"), steps=10, global_batch=64)
    assert kind_of_family(workload.model.family) in physics.costs
    short = wide_pass(workload, hardware, START, most_devices=32, memory_margin=0.1)
    best = best_layouts(short, physics)
    keys = list(zip(best.hardware.tolist(), best.machines.tolist(), strict=True))
    assert keys == sorted(set(zip(short.hardware.tolist(), short.machines.tolist(), strict=True)))
    times = dict(zip(keys, expected_time(best.prediction.step_s, best.out_of_memory), strict=True))
    assert times == pytest.approx(best_of(short, START), rel=1e-12)
