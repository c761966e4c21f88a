"""What a change of a traced job would save: predicted where the trace tells the job."""

from __future__ import annotations

import pytest

from advisor.advice.diagnosis import Finding, diagnose
from advisor.advice.engine import Engine
from advisor.advice.remedies import with_predictions
from advisor.advice.trace_runs import RunFacts, run_of_trace
from advisor.traces import HostTime, KernelRow, Parts, Trace

STEP_S = 0.175
RESNET = Trace(
    format="kineto_chrome_trace",
    step_time_s=STEP_S,
    steps=6,
    gpus=1,
    gpu_name="Tesla V100-SXM2-32GB",
    gpu_busy_share=0.56,
    comm_share=0.0,
    comm_exposed_share=0.0,
    parts=Parts(window_s=1.05, compute_s=0.578, comm_exposed_s=0, memcpy_s=0.01, idle_s=0.462),
    host=HostTime(steps_s=(STEP_S,) * 6, loading_s=0.069, loader_in_process=True, launches=1500),
    kernels=(KernelRow(name="volta_scudnn_128x64_relu_small_nn", calls=9, total_s=0.5),),
)
FACTS = RunFacts(model="ResNet-50", global_batch=32, precision="fp32")


def predicted(trace: Trace, facts: RunFacts, engine: Engine) -> dict[str, Finding]:
    run = run_of_trace(trace, facts, engine.catalog)
    found = with_predictions(diagnose(trace), trace, run, engine)
    assert [one.kind for one in found] == [one.kind for one in diagnose(trace)]
    return {finding.kind: finding for finding in found}


def test_a_faster_precision_leaves_the_waits_for_the_host(engine: Engine) -> None:
    found = predicted(RESNET, FACTS, engine)["tensor-cores-unused"]
    assert "Predicted in fp16" in found.help
    assert found.predicted is not None
    host_s = STEP_S * 0.44
    assert host_s < found.predicted.low < found.predicted.value < STEP_S
    assert found.predicted.unit == "s"


def test_loading_that_is_hidden_is_predicted_from_runs_of_others(engine: Engine) -> None:
    found = predicted(RESNET, FACTS, engine)["input-bound"]
    assert found.predicted is not None
    assert found.predicted.low < 0.126 < found.predicted.high
    assert "Predicted with loading hidden" in found.help
    assert found.step_time_after_s == pytest.approx(0.1267, rel=0.01)


def test_exposed_communication_is_held_against_usual_links(engine: Engine) -> None:
    trace = RESNET.model_copy(
        update={"gpus": 8, "comm_share": 0.8, "comm_exposed_share": 0.6, "host": None}
        | {"parts": Parts(window_s=1, compute_s=0.4, comm_exposed_s=0.6, memcpy_s=0, idle_s=0)}
    )
    facts = RunFacts(model="ResNet-50", global_batch=256, precision="fp32")
    found = predicted(trace, facts, engine)["communication-exposed"]
    assert "usual links of V100-32GB" in found.help
    assert "with a batch of 512" in found.help
    assert found.predicted is not None
    assert found.predicted.value < STEP_S


def test_a_model_that_is_not_known_is_not_predicted(engine: Engine) -> None:
    trace = RESNET.model_copy(update={"model": "own model", "params": 1e8, "global_batch": 8.0})
    run = run_of_trace(trace, RunFacts(), engine.catalog)
    assert with_predictions(diagnose(trace), trace, run, engine) == diagnose(trace)
