"""A trace or log of a saved plan's run: its step against the prediction, kept once."""

from __future__ import annotations

import pytest

from advisor import zoo
from advisor.advice.plan_runs import run_of_plan
from advisor.advice.saved import outcomes
from advisor.catalog import load
from advisor.core.errors import AdvisorError, InvalidInputError
from advisor.store import SavedPlan, Store
from advisor.testing.store_plans import WORKLOAD, plan

GPT = zoo.build_workload(zoo.get("gpt2"), steps=1000, sample_size=1024, global_batch=64)


def log(step_ms: float = 9400.0, batch: int = 64) -> bytes:
    lines = [
        f" iteration {i}/ 100 | elapsed time per iteration (ms): {step_ms} |"
        f" global batch size: {batch} |"
        for i in range(1, 6)
    ]
    return "\n".join(lines).encode()


@pytest.fixture
def saved() -> SavedPlan:
    with Store.open() as store:
        return store.save_plan(plan(), GPT, name="gpt", job="gpt2 · 1,000 steps · batch 64")


def test_the_plan_fills_what_a_log_does_not_say(saved: SavedPlan) -> None:
    run = run_of_plan(log(), saved, load(), name="train.log")
    assert run.step_time_s == pytest.approx(9.4)
    assert (run.model, run.accelerators, run.nodes) == ("gpt-2-small", 16, 2)
    assert (run.global_batch, run.sample_size, run.instance_type) == (64, 1024, "p4d.24xlarge")


def test_its_step_is_recorded_against_the_prediction_and_kept_once(saved: SavedPlan) -> None:
    run = run_of_plan(log(), saved, load())
    with Store.open() as store:
        store.finish_plan(saved.id, profile=run)
        store.finish_plan(saved.id, hours=12.0, profile=run)
        assert store.count(origin="user") == 1
        first, second = store.plan(saved.id).finished
    (step,) = outcomes(saved, first)
    assert (step.name, step.measured) == ("One step", pytest.approx(9.4))
    assert step.ratio == pytest.approx(9.4 / saved.step_time_s.value)
    assert [outcome.name for outcome in outcomes(saved, second)] == ["Time", "One step"]


def test_a_run_of_something_else_is_refused(saved: SavedPlan) -> None:
    with pytest.raises(InvalidInputError, match="its global batch is 128, that of the plan 64"):
        run_of_plan(log(batch=128), saved, load(), name="train.log")
    table = (
        b"model,gpu_name,gpus,nodes,step_time_s,global_batch,sequence_length,precision\n"
        b"gpt2,A100-40GB,8,1,9.4,64,1024,bf16\n"
    )
    with pytest.raises(InvalidInputError, match="number of accelerators is 8, that of the plan 16"):
        run_of_plan(table, saved, load(), name="runs.csv")
    other = table.replace(b"gpt2,A100-40GB,8,1", b"gpt2-medium,A100-40GB,16,2")
    said = "model is gpt-2-medium, that of the plan gpt-2-small"
    with pytest.raises(InvalidInputError, match=said):
        run_of_plan(other, saved, load(), name="runs.csv")


@pytest.mark.parametrize("device", ["A10G", "V100-SXM2-16GB", "H100"])
def test_a_run_on_another_accelerator_is_refused(saved: SavedPlan, device: str) -> None:
    table = (
        "model,gpu_name,gpus,nodes,step_time_s,global_batch,sequence_length,precision\n"
        f"gpt2,{device},16,2,9.4,64,1024,bf16\n"
    )
    with pytest.raises(InvalidInputError, match="that of the plan A100"):
        run_of_plan(table.encode(), saved, load(), name="runs.csv")


@pytest.mark.parametrize("device", ["NVIDIA A100-SXM4-40GB", "A100", "A100-80GB", "A100-40GB-PCIe"])
def test_a_driver_may_name_the_accelerator_in_its_own_way(saved: SavedPlan, device: str) -> None:
    table = (
        "model,gpu_name,gpus,nodes,step_time_s,global_batch,sequence_length,precision\n"
        f"gpt2,{device},16,2,9.4,64,1024,bf16\n"
    )
    assert run_of_plan(table.encode(), saved, load(), name="runs.csv").accelerators == 16


def test_several_runs_are_refused(saved: SavedPlan) -> None:
    table = (
        b"model,gpu_name,gpus,nodes,step_time_s,global_batch,sequence_length,precision\n"
        b"gpt2,A100-40GB,16,2,9.4,64,1024,bf16\ngpt2,A100-40GB,16,2,9.6,64,1024,bf16\n"
    )
    with pytest.raises(InvalidInputError, match="holds 2 runs"):
        run_of_plan(table, saved, load(), name="runs.csv")


def test_what_is_no_trace_is_refused_and_nothing_is_kept(saved: SavedPlan) -> None:
    with pytest.raises(AdvisorError):
        run_of_plan(b"\x80\x04nonsense", saved, load(), name="x.bin")
    with Store.open() as store:
        assert store.count(origin="user") == 0


def test_of_a_model_that_only_its_configuration_describes_the_file_must_name_it() -> None:
    with Store.open() as store:
        toy = store.save_plan(plan(), WORKLOAD, name="toy")
    with pytest.raises(InvalidInputError, match="the model"):
        run_of_plan(log(), toy, load(), name="train.log")
