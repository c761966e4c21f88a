"""Traces as runs to calibrate by and as jobs to ask for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from advisor.advice import Engine
from advisor.advice.forecast import forecast_on_machines
from advisor.advice.job import Job
from advisor.advice.run_files import runs_of_file
from advisor.advice.trace_runs import RunFacts, job_of_trace, run_of_trace, samples_of
from advisor.catalog import load
from advisor.core.errors import InvalidInputError, TraceError
from advisor.traces import Trace

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.catalog import Catalog

JOB = Job(model="llama-2-7b", amount=10e9, sample_size=4096, global_batch=1024)
FACTS = RunFacts.of_job(JOB)
CONFIG = json.dumps(
    {
        "model_type": "llama", "hidden_size": 2048, "intermediate_size": 5632,
        "num_hidden_layers": 22, "num_attention_heads": 32, "num_key_value_heads": 4,
        "vocab_size": 32000, "max_position_embeddings": 2048, "tie_word_embeddings": False,
    }
)  # fmt: skip
RUNS = """\
model,gpu_name,gpus,step_time_s,global_batch
Llama-2-7B,A100-80GB,8,9.5,64
ResNet-50,T4,1,0.4,128
"""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load()


def trace(**changes: Any) -> Trace:
    """Return a trace that says everything, with changes."""
    fields: dict[str, Any] = {
        "format": "megatron_log", "step_time_s": 2.0, "gpus": 16, "nodes": 2,
        "gpu_name": "NVIDIA A100-SXM4-80GB", "global_batch": 128, "sequence_length": 2048,
        "precision": "bf16", "model": "Llama-2-7B", "layout": "tp=4;pp=2;dp=2", "micro_batch": 2,
        "peak_memory_bytes": 2e10, "framework": "Megatron-LM",
    }  # fmt: skip
    return Trace(**(fields | changes))


def test_a_trace_that_says_everything_needs_nothing(catalog: Catalog) -> None:
    run = run_of_trace(trace(), RunFacts(), catalog)
    assert (run.model, run.family, run.accelerator) == ("Llama-2-7B", "language", "A100-80GB")
    assert (run.accelerators, run.nodes, run.global_batch, run.sample_size) == (16, 2, 128, 2048)
    assert (run.parallelism, run.micro_batch, run.precision) == ("tp=4;pp=2;dp=2", 2, "bf16")
    assert run.layers == 32
    assert run.peak_memory_bytes == 2e10


def test_what_the_file_says_wins_over_the_job(catalog: Catalog) -> None:
    run = run_of_trace(trace(model="opt-1.3b"), FACTS, catalog)
    assert (run.model, run.global_batch, run.sample_size) == ("opt-1.3b", 128, 2048)


def test_the_job_fills_what_the_file_does_not_say(catalog: Catalog) -> None:
    silent = trace(model=None, global_batch=None, sequence_length=None, precision=None)
    run = run_of_trace(silent, FACTS, catalog)
    assert (run.model, run.global_batch, run.sample_size) == ("llama-2-7b", 1024, 4096)
    assert run.precision == "bf16"


def test_the_machines_of_today_fill_accelerators(catalog: Catalog) -> None:
    silent = trace(gpu_name=None, gpus=None, nodes=None, instance_type=None)
    run = run_of_trace(silent, FACTS.on("4 x p4d.24xlarge", catalog), catalog)
    assert (run.accelerator, run.accelerators, run.nodes) == ("A100-40GB", 32, 4)
    assert run.instance_type == "p4d.24xlarge"


@pytest.mark.parametrize(
    ("silent", "words"),
    [
        ({"model": None}, ["does not say the model.", "Give --model."]),
        ({"model": None, "global_batch": None}, ["model and the global batch", "--global-batch"]),
        ({"gpu_name": None, "gpus": None}, ["the accelerator and the number", "--current"]),
        ({"step_time_s": None}, ["a step time", "several steps"]),
    ],
)  # fmt: skip
def test_what_nobody_says_is_asked_for(
    silent: dict[str, Any], words: list[str], catalog: Catalog
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        run_of_trace(trace(**silent), RunFacts(), catalog, where="train.log")
    assert str(caught.value).startswith("train.log: the trace (megatron_log)")
    for word in words:
        assert word in str(caught.value)


def test_an_unknown_name_is_the_jobs_model_or_described_by_its_parameters(
    catalog: Catalog,
) -> None:
    assert run_of_trace(trace(model="run-17"), FACTS, catalog).model == "llama-2-7b"
    known = run_of_trace(trace(model="run-17", params=7e9), FACTS, catalog)
    assert (known.model, known.params, known.family) == ("run-17", 7e9, "language")
    alone = run_of_trace(trace(model="run-17"), RunFacts(), catalog)
    assert alone.model == "run-17"


def test_adapters_are_marked_on_runs_of_the_job_alone(catalog: Catalog) -> None:
    tuned = RunFacts(model="llama-2-7b", tuning="lora")
    assert run_of_trace(trace(layout=""), tuned, catalog).parallelism == "tuning=lora"
    assert run_of_trace(trace(), tuned, catalog).parallelism == "tp=4;pp=2;dp=2;tuning=lora"
    assert run_of_trace(trace(model="opt-1.3b", layout=""), tuned, catalog).parallelism == ""


def test_a_model_named_by_a_file_is_never_read_as_a_path(catalog: Catalog, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(CONFIG)
    run = run_of_trace(trace(model=str(path), params=1e9), RunFacts(), catalog)
    assert (run.params, run.layers) == (1e9, None)
    with pytest.raises(InvalidInputError, match="does not say a known model"):
        job_of_trace(trace(model=str(path)))


@pytest.mark.parametrize(
    ("change", "samples"),
    [
        ({}, 128),
        ({"throughput": 131072, "throughput_unit": "tokens/s"}, 128),
        ({"global_batch": 262144, "throughput": 131072, "throughput_unit": "tokens/s"}, 128),
        ({"global_batch": 128, "throughput": 64, "throughput_unit": "samples/s"}, 128),
        ({"global_batch": None}, None),
    ],
)
def test_a_batch_of_tokens_is_counted_in_samples(
    change: dict[str, Any], samples: float | None
) -> None:
    assert samples_of(trace(**change), 2048) == samples


def test_a_trace_becomes_a_job_that_lacks_only_its_amount() -> None:
    job = job_of_trace(trace())
    assert (job.model, job.sample_size, job.global_batch) == ("Llama-2-7B", 2048, 128)
    assert (job.precision, job.amount) == ("bf16", None)
    other = job_of_trace(trace(model=None, global_batch=None), RunFacts(model=CONFIG))
    assert (other.model, other.global_batch) == (CONFIG, None)


def test_a_table_holds_many_runs_and_a_gap_names_its_row(catalog: Catalog) -> None:
    runs = runs_of_file(RUNS.encode(), RunFacts(), catalog, name="a.csv")
    assert [run.model for run in runs] == ["Llama-2-7B", "ResNet-50"]
    with pytest.raises(InvalidInputError, match=r"a\.csv, run 2: .* the model"):
        runs_of_file(RUNS.replace("ResNet-50", "").encode(), RunFacts(), catalog, name="a.csv")


def test_a_run_on_processors_alone_is_none_of_the_machines_given(catalog: Catalog) -> None:
    facts = RunFacts(model="gpt2", global_batch=64).on("1 x p4d.24xlarge", catalog)
    with pytest.raises(InvalidInputError, match="ran without accelerators"):
        run_of_trace(trace(gpus=0), facts, catalog, where="runs.csv")


def test_a_bad_file_says_so(catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "empty.log").write_bytes(b"")
    with pytest.raises(TraceError, match=r"empty\.log"):
        runs_of_file(tmp_path / "empty.log", FACTS, catalog)


def test_a_model_known_by_its_configuration_is_calibrated(engine: Engine) -> None:
    workload = Job(model=CONFIG, unit="steps", amount=100, global_batch=64).workload()
    before = forecast_on_machines("1 x p4d.24xlarge", workload, engine)
    silent = trace(
        model=None, global_batch=None, sequence_length=None, gpus=8, nodes=1, layout="",
        micro_batch=None, gpu_name="A100-40GB", step_time_s=1.5 * before.step_time_s.value,
    )  # fmt: skip
    facts = RunFacts(model=CONFIG, global_batch=64, precision="bf16")
    run = run_of_trace(silent, facts, engine.catalog)
    after = forecast_on_machines("1 x p4d.24xlarge", workload, engine.calibrated([run], workload))
    assert after.calibrated is not None
    assert after.calibrated.likeness == "same job"
    assert after.step_time_s.value == pytest.approx(run.step_time_s, rel=0.1)


def test_machines_with_other_accelerators_say_nothing_of_a_run(catalog: Catalog) -> None:
    volta = RunFacts().on("1 x p3.8xlarge", catalog)
    run = run_of_trace(trace(nodes=None), volta, catalog)
    assert (run.accelerator, run.accelerators) == ("A100-80GB", 16)
    assert (run.nodes, run.instance_type) == (None, "")
    with pytest.raises(InvalidInputError, match=r"of A100-80GB, but the machines given hold V100"):
        run_of_trace(trace(gpus=None), volta, catalog, where="train.log")
    same = RunFacts().on("2 x p4d.24xlarge", catalog)  # 40 GB: a name may leave the memory out
    assert run_of_trace(trace(gpus=None), same, catalog).accelerators == 16
