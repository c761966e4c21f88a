"""Which limits exclude each other: the fewest that leave no plan, against trying every set."""

from __future__ import annotations

from dataclasses import fields
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from test_constraints import all_limits, plans_of, tables

from advisor.search.conflicts import FACTS, smallest_conflict
from advisor.search.constraints import Constraints, apply, filter_masks
from advisor.search.relax import relaxations


def leave_nothing(masks: dict[str, np.ndarray], names: tuple[str, ...], count: int) -> bool:
    left = np.ones(count, dtype=bool)
    for name in (*FACTS, *names):
        left &= masks.get(name, True)
    return not left.any()


@settings(max_examples=60, deadline=None)
@given(tables, all_limits)
def test_no_smaller_set_of_limits_leaves_nothing(plans: pd.DataFrame, limits: Constraints) -> None:
    masks = dict(filter_masks(plans, limits))
    names = smallest_conflict(plans, limits)
    if apply(plans, limits)[0].any() or leave_nothing(masks, (), len(plans)):
        assert names == ()
        return
    assert leave_nothing(masks, names, len(plans))
    relaxable = [name for name in masks if name not in FACTS]
    for fewer in combinations(relaxable, len(names) - 1):
        assert not leave_nothing(masks, fewer, len(plans))


@settings(max_examples=60, deadline=None)
@given(tables, all_limits)
def test_whatever_excludes_every_plan_there_is_a_way_out(
    plans: pd.DataFrame, limits: Constraints
) -> None:
    masks = dict(filter_masks(plans, limits))
    assume(not apply(plans, limits)[0].any())
    assume(not leave_nothing(masks, (), len(plans)))
    assume(limits.markets is None)  # those that bind for years are never opened
    ways = relaxations(plans, limits)
    assert ways
    for way in ways:
        assert apply(plans, way.limits)[0][way.plan]
        changed = {field.name for field in fields(limits)
                   if getattr(limits, field.name) != getattr(way.limits, field.name)}  # fmt: skip
        assert changed == set(way.names)


def test_a_deadline_and_a_budget_that_only_exclude_each_other_are_both_named() -> None:
    plans = plans_of((1.0, 1000.0), (10.0, 100.0)).assign(machines=[8, 1])
    limits = Constraints(deadline_h=2.0, budget_usd=200.0, most_machines=100, chance=0.5)
    assert smallest_conflict(plans, limits) == ("deadline_h", "budget_usd")


def test_a_limit_that_nobody_meets_is_the_whole_conflict() -> None:
    plans = plans_of((1.0, 1000.0), (10.0, 100.0))
    limits = Constraints(deadline_h=0.5, budget_usd=200.0, chance=0.5)
    assert smallest_conflict(plans, limits) == ("deadline_h",)


def test_where_no_single_change_is_enough_the_fewest_are_relaxed_together() -> None:
    plans = plans_of((10.0, 100.0), (30.0, 90.0)).assign(
        machines=[8, 4], device_memory_gb=[80.0, 40.0], cloud="gcp"
    )
    limits = Constraints(clouds=frozenset({"aws"}), most_machines=2, least_memory_gb=96, chance=0.5)
    (first, *_) = relaxations(plans, limits)
    assert set(first.names) == {"clouds", "most_machines", "least_memory_gb"}
    assert (first.limits.clouds, first.limits.most_machines) == (None, 8)
    assert first.limits.least_memory_gb == pytest.approx(80.0)
