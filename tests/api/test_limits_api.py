"""Limits of the Python API that are words, files and texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from advisor import api

if TYPE_CHECKING:
    from advisor.advice import Engine

JOB: dict[str, Any] = {"tokens": "1 B", "global_batch": 256, "max_accelerators": 32}


def plans_within(engine: Engine, **limits: Any) -> list[Any]:
    advice = api.advise("llama-2-7b", **JOB, engine=engine, **limits)
    return [*(pick.plan for pick in advice.picks.values()), *advice.pareto]


def test_residency_keeps_machines_inside_the_named_countries(engine: Engine) -> None:
    places = {plan.cluster.groups[0].region for plan in plans_within(engine, residency="EU")}
    assert places
    assert not any(region.startswith(("us", "ap-", "asia")) for region in places)
    assert not places & {"eu-west-2", "eu-central-2", "europe-west2", "uksouth", "norwayeast"}


def test_small_accelerators_and_dear_spot_are_left_out(engine: Engine) -> None:
    for plan in plans_within(engine, min_memory_gb=80, spot_ceiling_usd="1.5"):
        assert plan.memory.capacity_bytes >= 80e9
        each = plan.offer.usd_per_h / plan.cluster.groups[0].accelerators_per_node
        assert plan.offer.market != "spot" or each <= 1.5


def test_only_machines_known_to_be_confidential_are_taken(engine: Engine) -> None:
    names = {plan.offer.instance_type for plan in plans_within(engine, confidential=True)}
    assert names <= {"a3-highgpu-1g", "Standard_NCC40ads_H100_v5"}


def test_no_more_machines_cost_than_the_hourly_ceiling(engine: Engine) -> None:
    for plan in plans_within(engine, max_usd_per_h=20):
        assert plan.offer.usd_per_h * plan.cluster.machines <= 20


def test_quotas_are_texts_or_files(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "quota.json"
    arn = "arn:aws:servicequotas:us-east-1:123456789012:ec2/L-417A185B"
    quota = {"QuotaName": "Running On-Demand P instances", "Value": 96, "QuotaArn": arn}
    file.write_text(json.dumps({"Quotas": [quota]}), encoding="utf-8")
    texts = [file, "p4d.24xlarge,1\np5.48xlarge,0"]
    for plan in plans_within(engine, clouds="aws", quotas=texts):
        assert plan.offer.instance_type != "p5.48xlarge"
        if plan.offer.instance_type == "p4d.24xlarge":
            assert plan.cluster.machines == 1


def test_a_file_of_quotas_that_is_not_there_is_named(engine: Engine) -> None:
    with pytest.raises(api.InvalidInputError, match=r"missing\.json"):
        plans_within(engine, quotas=Path("missing.json"))


def test_limits_that_exclude_each_other_are_named_with_the_way_out(engine: Engine) -> None:
    with pytest.raises(api.NoFeasiblePlanError) as caught:
        plans_within(engine, residency="EU", budget_usd=1, deadline_h=500, min_memory_gb=16)
    assert "none meets budget $1.00" in caught.value.what
    assert "deadline" not in caught.value.what
    assert "Relax one: budget $" in caught.value.todo
