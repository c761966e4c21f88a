"""The expander of limits: what it changes of the picks, what the address keeps, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from ui_apps import open_page, text_of

from advisor.ui.address import address_of
from advisor.ui.more_limits import MoreLimits
from advisor.ui.state import DEFAULT_JOB, Inputs, inputs_of

if TYPE_CHECKING:
    from advisor.advice import Engine

MORE = MoreLimits(
    residency=("EU", "Japan"), data_gb=500.0, data_at="aws:us-east-1", memory_gb=40.0,
    margin_percent=20, confidential=True, ceiling_usd=2.5, rate_usd=100.0,
    quota="p4d.24xlarge,4\nA100,16,us-central1",
)  # fmt: skip


@pytest.fixture
def _data(engine: Engine, engine_data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(engine_data_dir))


def test_every_limit_comes_back_from_the_address() -> None:
    inputs = Inputs(job=DEFAULT_JOB, more=MORE)
    address = address_of(inputs)
    assert {"residency", "data_at", "confidential", "quota", "margin"} < set(address)
    assert inputs_of(dict(address)) == inputs
    assert "margin" not in address_of(Inputs(job=DEFAULT_JOB))


def test_an_address_that_holds_anything_keeps_the_defaults() -> None:
    odd = {"memory": "much", "margin": "-5", "ceiling": "nan", "confidential": "perhaps",
           "residency": "EU"}  # fmt: skip
    assert MoreLimits.of(odd) == MoreLimits()


@pytest.mark.usefixtures("_data")
def test_residency_changes_the_picks_and_quotas_are_counted() -> None:
    test = open_page("advise", job=DEFAULT_JOB, residency=["EU"])
    said = text_of(test)
    assert "Cheapest" in said
    assert " us-" not in said.split("Cheapest")[1].split("candidates")[0]
    quota = {"QuotaName": "Running On-Demand P instances", "Value": 96.0,
             "QuotaArn": "arn:aws:servicequotas:us-east-1:123456789012:ec2/L-417A185B"}  # fmt: skip
    test.text_area(key="quota").set_value(json.dumps({"Quotas": [quota]})).run()
    assert test.text_area(key="quota").value == "Running On-Demand P instances,96,us-east-1"
    assert "1 quota limits 15 instance types" in text_of(test)


@pytest.mark.usefixtures("_data")
def test_limits_that_exclude_each_other_are_named_and_relaxed_by_a_click() -> None:
    test = open_page("advise", job=DEFAULT_JOB, confidential="true", memory="140")
    said = text_of(test)
    assert "None meets confidential computing and accelerator memory 140" in said
    test.button(key="relax_least_memory_gb").click().run()
    assert test.number_input(key="memory").value < 140
    assert "Cheapest" in text_of(test)


@pytest.mark.usefixtures("_data")
def test_a_quota_of_an_unknown_type_is_named() -> None:
    said = text_of(open_page("advise", job=DEFAULT_JOB, quota="x9.mega,2"))
    assert "unknown type\\: “x9.mega”" in said
