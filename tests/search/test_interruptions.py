"""What interruptions do to the table of plans."""

from __future__ import annotations

import numpy as np
import pytest
from search_fixtures import (  # noqa: F401 - fixtures
    catalog_fixture,
    llama_fixture,
    physics_fixture,
    table_fixture,
)

from advisor.catalog import Catalog
from advisor.core.units import HOUR_S
from advisor.domain import Workload
from advisor.search.bill import checkpoint_bytes
from advisor.search.finish import deadline_probability, hours_at_chance
from advisor.search.interruptions import law_of, never_interrupted
from advisor.search.search import Evaluated, SearchOptions, evaluate
from advisor.transient import NO_DATA, spot_columns, with_bands


def test_only_spot_plans_are_interrupted_and_those_without_data_say_so(table: Evaluated) -> None:
    plans = table.plans
    spot = plans["market"] == "spot"
    known = plans["untouched"].notna()
    assert spot[known].all()
    assert (plans["interruption_basis"][~spot] == "").all()
    assert (plans["interruption_basis"][spot & ~known] == NO_DATA).all()
    assert (plans["interruption_h"][~known] == 0).all()
    assert (plans["interruption_h"][known] > 0).all()
    assert known.any()
    assert (spot & ~known).any()


def test_hours_and_bill_contain_what_interruptions_add(table: Evaluated) -> None:
    plans, bill = table.plans, table.bill
    parts = plans["training_h"] + plans["startup_h"] + plans["interruption_h"]
    assert plans["hours"].to_numpy() == pytest.approx(parts.to_numpy())
    added = plans["machines"] * plans["usd_per_h"] * plans["interruption_h"]
    assert bill.interruptions_usd == pytest.approx(added.to_numpy())


def test_a_row_agrees_with_the_spot_columns_of_its_plan_alone(
    table: Evaluated, catalog: Catalog
) -> None:
    plans = table.plans
    for row in np.flatnonzero(plans["untouched"].notna())[::997]:
        plan = plans.iloc[[row]]
        alone = plan.assign(
            startup_s=plan["startup_h"] * HOUR_S, checkpoint_bytes=checkpoint_bytes(table.workload)
        )
        found = spot_columns(with_bands(alone, catalog), deadline_h=30.0).iloc[0]
        bound = deadline_probability(plan.assign(**never_interrupted(plan)), 30.0)[0]
        expected = min(bound, found["deadline_probability"])
        assert deadline_probability(plan, 30.0)[0] == pytest.approx(expected)
        assert plans["interruption_h"].iloc[row] == pytest.approx(found["lost_h"])
        assert plans["revocations"].iloc[row] == pytest.approx(found["revocations"])


def test_a_job_twice_as_long_is_interrupted_more_often(
    llama: Workload, catalog: Catalog, physics: object
) -> None:
    longer = llama.model_copy(update={"samples": 2 * llama.samples})
    short, long = (
        evaluate(work, catalog, physics, SearchOptions(most_accelerators=16)).plans
        for work in (llama, longer)
    )
    known = short["untouched"].notna().to_numpy()
    assert (long["revocations"][known] > short["revocations"][known]).all()
    assert (long["untouched"][known] < short["untouched"][known]).all()


def test_spot_is_never_surer_than_the_same_machines_on_demand(table: Evaluated) -> None:
    plans = table.plans
    known = plans[plans["untouched"].notna()]
    undisturbed = known.assign(**never_interrupted(known))
    for deadline_h in (0.5, 2.0, 30.0, 300.0):
        alone = deadline_probability(undisturbed, deadline_h)
        assert (deadline_probability(known, deadline_h) <= alone).all()
    for chance in (0.05, 0.5, 0.95):
        assert (hours_at_chance(known, chance) >= hours_at_chance(undisturbed, chance)).all()
    # The bound is one on an approximation, which is near it: it is not what decides.
    law = law_of(known, np.arange(len(known)))
    assert (law.share_below(30 * HOUR_S) - deadline_probability(undisturbed, 30.0)).max() < 0.05
