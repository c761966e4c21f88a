"""Mixes of unequal devices: read from text, every mix tried, and what each kind is worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from advisor import catalog as catalogs
from advisor.advice.inventory_text import parse_inventory
from advisor.advice.mixed import mixed_advice
from advisor.catalog import Catalog
from advisor.core.errors import InvalidInputError, NoFeasiblePlanError
from advisor.domain import Model, Workload
from advisor.domain.mixed import DeviceGroup, Inventory, MixedAdvice
from advisor.strategies import LayerTimes, Line, Speeds
from advisor.strategies.speeds import Memory

MODEL = Model(
    name="toy", family="language", params=1e8, active_params=1e8, layers=8, hidden=512, heads=8,
    kv_heads=8, vocab=1000, tokens_per_sample=128, forward_flops_per_sample=1e11,
    activation_elements_per_sample=1e7, boundary_elements_per_sample=128 * 512,
)  # fmt: skip
WORKLOAD = Workload(
    model=MODEL, samples=64_000, global_batch=64, precision="fp16", trainable_params=1e8
)


@pytest.fixture(name="catalog", scope="module")
def catalog_fixture() -> Catalog:
    return catalogs.load()


def speeds_of(width: float = 0.0, state_bytes: float = 1.6e9, **per_sample_s: float) -> Speeds:
    """Return the speeds of one device of each kind, by seconds a sample and layer."""
    none = np.empty(0)
    groups = tuple(
        DeviceGroup(
            name=name, accelerator=name, machines=1, accelerators_per_machine=1, memory_bytes=24e9,
            link_bytes_per_s=12e9, network_bytes_per_s=12e9, usd_per_h=1.0,
        )
        for name in per_sample_s
    )  # fmt: skip
    memory = Memory(state_bytes=state_bytes, sample_bytes=1e8, fixed_bytes=1e9)
    return Speeds(
        workload=WORKLOAD,
        inventory=Inventory(groups=groups),
        times={
            name: LayerTimes(Line(slope, 0.0), Line(2 * slope, 0.0), none, none, width)
            for name, slope in per_sample_s.items()
        },
        memory=dict.fromkeys(per_sample_s, memory),
        recomputed=dict.fromkeys(per_sample_s, memory),
    )


def test_an_inventory_is_read_as_people_write_it(catalog: Catalog) -> None:
    inventory = parse_inventory("2xL4, A6000 + 1 × P40", catalog, 1.25e9)
    assert str(inventory) == "2 × L4 + 1 × RTX-A6000 + 1 × P40"
    assert (inventory.accelerators, inventory.machines) == (4, 3)
    assert {group.network_bytes_per_s for group in inventory.groups} == {1.25e9}


def test_an_instance_type_brings_its_devices_and_network(catalog: Catalog) -> None:
    inventory = parse_inventory("2 x p4d.24xlarge", catalog, 1.0)
    assert inventory.accelerators == 16
    assert inventory.groups[0].network_bytes_per_s > 1e9


def test_all_unknown_kinds_are_named(catalog: Catalog) -> None:
    with pytest.raises(InvalidInputError, match=r"“2xL44”.*“Z9000”") as raised:
        parse_inventory("2xL44, A6000, Z9000", catalog, 1.25e9)
    assert raised.value.where == "inventory"


@pytest.mark.parametrize("text", ["", " , ", "0 x L4", "L4, 2 x L4", "1000 x L4"])
def test_what_is_no_inventory_is_refused(text: str, catalog: Catalog) -> None:
    with pytest.raises(InvalidInputError):
        parse_inventory(text, catalog, 1.25e9)


def test_a_device_that_only_delays_the_others_is_not_worth_it() -> None:
    advice = mixed_advice(speeds_of(fast=1e-3, old=2.0))
    worth = {one.group: one for one in advice.worth}
    assert worth["old"].verdict == "not worth it"
    assert worth["old"].gain < 0.02
    assert worth["old"].without_s == pytest.approx(advice.best.step_time_s.value, rel=0.02)
    assert worth["fast"].verdict == "worth it"
    assert "without it" in worth["old"].reason


def test_a_device_as_fast_as_the_other_is_worth_it_within_its_interval() -> None:
    advice = mixed_advice(speeds_of(0.3, one=10e-3, two=10e-3))
    found = advice.worth[1]
    assert found.verdict == "worth it"
    assert found.gain_low < found.gain < found.gain_high
    assert advice.best.inventory.accelerators == 2
    assert advice.best.step_time_s.low < advice.best.step_time_s.value
    assert advice.best.cost_usd is not None
    hours = advice.best.hours.value
    assert advice.best.cost_usd.value == pytest.approx(2.0 * hours)


def test_a_device_without_which_nothing_fits_is_needed() -> None:
    advice = mixed_advice(speeds_of(state_bytes=26e9, one=1e-2, two=1e-2))
    assert {one.verdict for one in advice.worth} == {"needed"}
    assert {one.strategy for one in advice.not_used} >= {"equal_batches", "omnilearn"}


def test_a_job_that_fits_nowhere_says_so() -> None:
    speeds = speeds_of(state_bytes=1.6e13, one=1e-2, two=1e-2)
    huge = MODEL.model_copy(update={"params": 1e12, "active_params": 1e12})
    with pytest.raises(NoFeasiblePlanError, match="any mix"):
        mixed_advice(replace(speeds, workload=WORKLOAD.model_copy(update={"model": huge})))


def test_the_advice_comes_back_from_json() -> None:
    advice = mixed_advice(speeds_of(one=1e-2, two=2e-2), ("network 10 Gbit/s",))
    assert MixedAdvice.from_json(advice.to_json()) == advice
