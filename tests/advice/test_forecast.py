"""What a job takes on hardware that is given."""

from __future__ import annotations

import pytest

from advisor import zoo
from advisor.advice import Engine
from advisor.advice.forecast import (
    current_plan,
    forecast_on_accelerators,
    forecast_on_machines,
)
from advisor.core.errors import InvalidInputError, NoFeasiblePlanError, PredictionError
from advisor.domain import Forecast, Workload


@pytest.fixture(scope="module")
def workload() -> Workload:
    return zoo.build_workload(
        zoo.resolve("llama-2-7b"), tokens=10e9, sample_size=4096, global_batch=1024
    )


def check(forecast: Forecast, workload: Workload) -> None:
    """Check what holds for every forecast."""
    assert forecast.steps == workload.steps
    assert forecast.hours.value == pytest.approx(forecast.steps * forecast.step_time_s.value / 3600)
    assert forecast.accelerator_hours.value == pytest.approx(
        forecast.hours.value * forecast.accelerators
    )
    assert forecast.parts.total_s == pytest.approx(forecast.step_time_s.value)
    assert forecast.layout.devices == forecast.accelerators
    for estimate in (forecast.step_time_s, forecast.hours, forecast.accelerator_hours):
        assert estimate.low < estimate.value < estimate.high
    assert forecast.memory.used_bytes <= forecast.memory.capacity_bytes
    assert Forecast.from_json(forecast.to_json()) == forecast


def test_machines_of_the_catalog(workload: Workload, engine: Engine) -> None:
    forecast = forecast_on_machines("4 x p4d.24xlarge", workload, engine)
    check(forecast, workload)
    assert (forecast.machines, forecast.instance_type) == (4, "p4d.24xlarge")
    assert (forecast.accelerators, forecast.accelerator) == (32, "A100-40GB")
    assert forecast.assumptions == ()


def test_accelerators_in_usual_machines(workload: Workload, engine: Engine) -> None:
    forecast = forecast_on_accelerators("a100 80gb", 32, workload, engine)
    check(forecast, workload)
    assert (forecast.machines, forecast.instance_type) == (4, "")
    assert forecast.accelerator == "A100-80GB"
    assert forecast.assumptions == (
        "machines of 8 accelerators", "network 800 Gbit/s per machine",
    )  # fmt: skip


@pytest.mark.parametrize(("accelerators", "machines"), [(8, 1), (16, 2), (512, 64)])
def test_more_accelerators_take_less_time_and_more_work(
    accelerators: int, machines: int, workload: Workload, engine: Engine
) -> None:
    one = forecast_on_accelerators("H100", accelerators, workload, engine)
    two = forecast_on_accelerators("H100", 2 * accelerators, workload, engine)
    assert one.machines == machines
    assert two.hours.value < one.hours.value
    assert two.hours.value > 0.4 * one.hours.value


def test_the_forecast_is_the_training_part_of_the_plan(workload: Workload, engine: Engine) -> None:
    forecast = forecast_on_machines("4 x p4d.24xlarge", workload, engine)
    plan = current_plan("4 x p4d.24xlarge", workload, engine)
    assert plan.layout == forecast.layout
    assert plan.step_time_s == forecast.step_time_s
    median_s, p90_s, _ = engine.catalog.startup_s("aws", "p4d.24xlarge", "A100-40GB")
    start_h = plan.hours.value - forecast.hours.value
    assert median_s < 3600 * start_h < p90_s
    assert plan.hours.high - forecast.hours.high == pytest.approx(p90_s / 3600, rel=0.01)


@pytest.mark.parametrize("accelerators", [0, -8, 12, 100_001, 10**30])
def test_a_number_of_accelerators_that_cannot_be_is_refused(
    accelerators: int, workload: Workload, engine: Engine
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        forecast_on_accelerators("H100", accelerators, workload, engine)
    assert f"{accelerators:,}" in str(caught.value)
    assert caught.value.where == "accelerators"


@pytest.mark.parametrize("forecast", [forecast_on_machines, current_plan])
def test_what_cannot_run_says_why(forecast: object, engine: Engine) -> None:
    large = zoo.build_workload(zoo.resolve("llama-3-405b"), steps=1, global_batch=16)
    with pytest.raises(NoFeasiblePlanError, match=r"on 1 × p4d\.24xlarge.*more memory"):
        forecast("1 x p4d.24xlarge", large, engine)
    odd = zoo.build_workload(zoo.resolve("resnet-50"), steps=1, global_batch=13)
    with pytest.raises(NoFeasiblePlanError, match="global batch 13 does not divide"):
        forecast("1 x p4d.24xlarge", odd, engine)
    with pytest.raises(InvalidInputError, match="has a share of one A10"):
        forecast("1 x Standard_NV6ads_A10_v5", odd, engine)
    with pytest.raises(PredictionError, match="no peak of Gaudi1"):
        forecast("1 x dl1.24xlarge", odd, engine)
    alone = engine.catalog.machines[engine.catalog.machines["network_bytes_per_s"].isna()]
    whole = alone[alone["accelerators"] >= 1].iloc[0]
    small = zoo.build_workload(zoo.resolve("resnet-50"), steps=1, global_batch=128)
    text = f"{{}} x {whole['cloud']}/{whole['instance_type']}"
    assert forecast(text.format(1), small, engine).steps == 1
    with pytest.raises(NoFeasiblePlanError, match="network between them is not known"):
        forecast(text.format(2), small, engine)


def test_a_machine_without_a_price_is_predicted_but_not_compared(engine: Engine) -> None:
    keys = ["cloud", "instance_type"]
    machines = engine.catalog.machines[[*keys, "accelerators"]].astype(dict.fromkeys(keys, str))
    priced = engine.catalog.offers[keys].astype(str).drop_duplicates()
    left = machines.merge(priced, on=keys, how="left", indicator=True)
    free = left[(left["_merge"] == "left_only") & (left["accelerators"] >= 1)]
    assert len(free)
    text = f"1 x {free['cloud'].iloc[0]}/{free['instance_type'].iloc[0]}"
    small = zoo.build_workload(zoo.resolve("resnet-50"), steps=1, global_batch=8)
    assert forecast_on_machines(text, small, engine).machines == 1
    with pytest.raises(InvalidInputError, match="the catalog has no price of"):
        current_plan(text, small, engine)


def test_an_unknown_accelerator_offers_the_nearest(workload: Workload, engine: Engine) -> None:
    with pytest.raises(InvalidInputError, match="H100"):
        forecast_on_accelerators("H1000", 8, workload, engine)
