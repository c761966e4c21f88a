"""The search as a whole, with physics for a predictor."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from plain_search import plain_search
from search_fixtures import (  # noqa: F401 - fixtures
    catalog_fixture,
    catalog_of_fixture,
    llama_fixture,
    physics_fixture,
    table_fixture,
)

from advisor import zoo
from advisor.catalog import Catalog
from advisor.core.errors import InvalidInputError
from advisor.domain import Workload
from advisor.predictor.costs import START
from advisor.search.constraints import Constraints, apply
from advisor.search.hardware import hardware_table
from advisor.search.search import Evaluated, Machines, SearchOptions, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERS = ["hours", "hours_low", "hours_high", "cost_usd", "cost_low_usd", "cost_high_usd",
           "training_h", "startup_h", "log_sigma", "out_of_memory"]  # fmt: skip


def test_every_number_is_finite_and_inside_its_interval(table: Evaluated) -> None:
    plans = table.plans
    assert np.isfinite(plans[NUMBERS].to_numpy(float)).all()
    assert (plans[NUMBERS] >= 0).all().all()
    for name, low, high in (
        ("hours", "hours_low", "hours_high"),
        ("cost_usd", "cost_low_usd", "cost_high_usd"),
    ):
        assert (plans[low] <= plans[name]).all()
        assert (plans[name] <= plans[high]).all()
    assert (plans["hours_low"] < plans["hours"]).all()
    assert (plans["hours"] < plans["hours_high"]).all()


def test_the_account_adds_up(table: Evaluated) -> None:
    assert table.considered == sum(table.removed.values()) + len(table.plans)
    assert all(count > 0 for count in table.removed.values())
    mask, removed = apply(table.plans, Constraints(deadline_h=24, budget_usd=2000))
    account = table.removed | removed
    assert sum(account.values()) + mask.sum() == table.considered


def test_the_search_is_the_same_byte_for_byte(
    table: Evaluated, llama: Workload, catalog: Catalog, physics: object
) -> None:
    again = evaluate(llama, catalog, physics, SearchOptions())
    pd.testing.assert_frame_equal(again.plans, table.plans, check_exact=True)
    assert again.plans.to_csv() == table.plans.to_csv()
    assert again.removed == table.removed


def test_one_layout_per_offer_and_count(table: Evaluated) -> None:
    assert not table.plans.duplicated(["offer", "machines"]).any()
    shapes = table.best.hardware[table.plans["entry"]]
    counts = table.best.machines[table.plans["entry"]]
    assert (counts == table.plans["machines"]).all()
    assert pd.Series(shapes).groupby(table.plans["offer"]).nunique().max() == 1


def test_equal_hardware_is_evaluated_once_and_takes_equal_time(table: Evaluated) -> None:
    plans = table.plans
    assert len(table.best.machines) < len(plans) / 10
    assert plans.groupby("entry")["training_h"].nunique().max() == 1


def test_a_machine_without_a_plan_cannot_run_the_job(
    table: Evaluated, llama: Workload, catalog: Catalog
) -> None:
    shapes, shape = hardware_table(catalog, "bf16")
    planned = np.unique(shape[table.plans["offer"]])
    missing = shapes.drop(index=planned)
    assert 0 < len(missing) < len(shapes) / 2
    largest = missing.assign(memory=missing["devices_per_node"] * missing["memory_bytes"])
    tried = largest.nlargest(4, "memory")
    counts = {int(size): [1] for size in tried["devices_per_node"]}
    plain = plain_search(llama, tried, START, counts, memory_margin=0.1)
    assert plain.best == {}
    assert plain.considered == plain.too_large


def test_hours_and_cost_follow_from_the_step(table: Evaluated, llama: Workload) -> None:
    plans, step_s = table.plans, table.best.prediction.step_s[table.plans["entry"]]
    assert plans["training_h"].to_numpy() == pytest.approx(step_s * llama.steps / 3600)
    assert plans["hours"].to_numpy() == pytest.approx(
        (plans["training_h"] + plans["startup_h"] + plans["interruption_h"]).to_numpy()
    )


def test_retries_are_counted_once_in_hours_and_once_in_the_bill(
    table: Evaluated, llama: Workload, catalog: Catalog, physics: object
) -> None:
    more = evaluate(llama, catalog, physics, SearchOptions(retry_share=0.25))
    a, b = table.plans, more.plans
    assert (a["offer"] == b["offer"]).all()
    assert b["training_h"].to_numpy() == pytest.approx(1.25 * a["training_h"].to_numpy())
    assert b["startup_h"].to_numpy() == pytest.approx(a["startup_h"].to_numpy())
    assert more.bill.machines_usd == pytest.approx(table.bill.machines_usd)
    assert more.bill.retries_usd == pytest.approx(0.25 * table.bill.machines_usd)
    assert more.bill.startup_usd == pytest.approx(table.bill.startup_usd)
    rent = (b["machines"] * b["usd_per_h"] * b["hours"]).to_numpy()
    bill = more.bill
    other = sum(np.nan_to_num(part) for part in (bill.storage_usd, bill.writes_usd))
    assert b["cost_usd"].to_numpy() == pytest.approx(
        rent + bill.rounding_usd + bill.failed_usd + other
    )


def test_the_interval_of_the_cost_is_the_bill_of_the_interval_of_the_hours(
    table: Evaluated,
) -> None:
    plans, bill = table.plans, table.bill
    rate = (plans["machines"] * plans["usd_per_h"]).to_numpy()
    per_h = rate + np.nan_to_num(bill.storage_usd) / plans["hours"].to_numpy()
    once = bill.failed_usd + np.nan_to_num(bill.writes_usd)
    long = plans["hours_low"].to_numpy() > 1.0  # no minimum is longer; whole seconds and minutes
    leases = plans["machines"].to_numpy() + np.nan_to_num(plans["revocations"].to_numpy())
    minute = leases * plans["usd_per_h"].to_numpy() / 60
    for bound in ("low", "high"):
        beyond = plans[f"cost_{bound}_usd"].to_numpy() - per_h * plans[f"hours_{bound}"] - once
        assert (beyond[long] >= -1e-6 * plans["cost_usd"][long]).all()
        assert (beyond[long] <= minute[long] + 1e-6 * plans["cost_usd"][long]).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [("most_accelerators", 0), ("most_accelerators", 20_001), ("most_accelerators", -1),
     ("memory_margin", -0.01), ("memory_margin", 0.95), ("memory_margin", math.nan),
     ("retry_share", -0.1), ("retry_share", 11), ("retry_share", math.inf)],
)  # fmt: skip
def test_options_out_of_range_are_refused_and_named(name: str, value: float) -> None:
    with pytest.raises(InvalidInputError) as caught:
        SearchOptions(**{name: value})
    assert caught.value.where == name.replace("_", " ")


def test_no_plan_is_larger_than_asked_for(
    llama: Workload, catalog: Catalog, physics: object
) -> None:
    few = evaluate(llama, catalog, physics, SearchOptions(most_accelerators=16))
    assert few.plans["accelerators_total"].max() == 16
    assert len(few.plans)


def test_one_accelerator_cannot_train_seven_billion_parameters(
    llama: Workload, catalog: Catalog, physics: object
) -> None:
    found = evaluate(llama, catalog, physics, SearchOptions(most_accelerators=1))
    alone = found.plans
    assert (alone["machines"] == 1).all()
    assert (alone["accelerators"] == 1).all()
    assert found.considered == sum(found.removed.values()) + len(alone)


def test_the_margin_is_kept_free(llama: Workload, catalog: Catalog, physics: object) -> None:
    for margin in (0.0, 0.3):
        found = evaluate(llama, catalog, physics, SearchOptions(memory_margin=margin))
        assert (found.best.memory.used_bytes <= (1 - margin) * found.best.jobs.memory_bytes).all()


def test_a_fixed_choice_gives_the_row_of_the_whole_search(
    table: Evaluated, llama: Workload, catalog: Catalog, physics: object
) -> None:
    only = Machines(cloud="aws", instance_type="p4d.24xlarge", count=4)
    one = evaluate(llama, catalog, physics, SearchOptions(), only).plans
    whole = table.plans
    same = whole[(whole["instance_type"] == "p4d.24xlarge") & (whole["machines"] == 4)]
    columns = [name for name in whole.columns if name != "entry"]
    pd.testing.assert_frame_equal(
        one[columns].reset_index(drop=True), same[columns].reset_index(drop=True), rtol=1e-12
    )


def test_a_small_catalog_agrees_with_the_whole_one(
    table: Evaluated, llama: Workload, catalog_of: Callable[..., Catalog], physics: object
) -> None:
    names = ["p4d.24xlarge", "a2-highgpu-8g", "g2-standard-96", "NC_A100_v4"]
    small = evaluate(llama, catalog_of(*names), physics, SearchOptions()).plans
    whole = table.plans[table.plans["instance_type"].isin(names)]
    columns = ["cloud", "instance_type", "region", "market", "machines", *NUMBERS]
    left = small[columns].astype({"cloud": str, "instance_type": str, "region": str, "market": str})
    right = whole[columns].astype(left.dtypes.to_dict())
    pd.testing.assert_frame_equal(
        left.reset_index(drop=True), right.reset_index(drop=True), check_exact=True
    )


EXTREMES = {
    "one sample": ({"samples": 1}, SearchOptions()),
    "10^15 tokens": ({"tokens": 1e15}, SearchOptions()),
    "batch 1": ({"steps": 10, "global_batch": 1}, SearchOptions()),
    "batch 10^6": ({"steps": 10, "global_batch": 10**6}, SearchOptions()),
    "a prime batch": ({"steps": 10, "global_batch": 10_007}, SearchOptions()),
    "20,000 accelerators": (
        {"steps": 10, "global_batch": 2**20},
        SearchOptions(most_accelerators=20_000),
    ),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_extreme_jobs_are_answered_soon_and_in_finite_numbers(
    name: str, catalog: Catalog, physics: object
) -> None:
    amounts, options = EXTREMES[name]
    workload = zoo.build_workload(zoo.resolve("llama-2-7b"), **amounts)
    begin = time.process_time()
    found = evaluate(workload, catalog, physics, options)
    assert time.process_time() - begin < 10
    assert np.isfinite(found.plans[NUMBERS].to_numpy(float)).all()
    assert found.considered == sum(found.removed.values()) + len(found.plans)
    assert len(found.plans)


def test_a_job_that_fits_nowhere_has_an_empty_table(catalog: Catalog, physics: object) -> None:
    workload = zoo.build_workload(zoo.resolve("llama-3-405b"), steps=1, global_batch=1)
    found = evaluate(workload, catalog, physics, SearchOptions(most_accelerators=8))
    assert len(found.plans) == 0
    assert list(found.plans.columns)
    assert found.considered == found.removed["memory"] > 0
