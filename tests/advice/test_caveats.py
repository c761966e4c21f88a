"""The reader is told what the numbers do not say."""

from __future__ import annotations

import numpy as np
import pytest

from advisor import zoo
from advisor.advice import Engine, advise
from advisor.advice.caveats import caveats, precision_note
from advisor.advice.forecast import forecast_on_accelerators
from advisor.advice.job import Job
from advisor.core.errors import InvalidInputError
from advisor.predictor.hardware import PRECISION_ORDER, best_peak, run_precision
from advisor.search.constraints import Constraints
from advisor.search.search import SearchOptions


def test_a_mixture_of_many_experts_is_cautioned_of_everywhere(engine: Engine) -> None:
    many = zoo.build_workload(zoo.get("deepseek-v3"), tokens=1e9, precision="fp8")
    (said,) = caveats(many)
    assert said.startswith("256 experts")
    assert forecast_on_accelerators("H800", 2048, many, engine).caveats == (said,)
    few = zoo.build_workload(zoo.get("mixtral-8x7b"), tokens=1e8, tuning="lora")
    assert caveats(few) == ()
    assert advise(few, engine, limits=Constraints(most_machines=1)).caveats == ()


def test_the_precision_that_runs_is_the_one_whose_peak_counts(engine: Engine) -> None:
    table = engine.catalog.accelerators
    for wanted in PRECISION_ORDER:
        peaks = best_peak(table, np.array([wanted] * len(table)))
        for name, peak in zip(table.index, peaks, strict=True):
            if not np.isnan(peak):
                run = run_precision(table, name, wanted)
                assert table.loc[name, f"peak_{run}_flops"] == peak


def test_a_precision_that_an_accelerator_lacks_is_said(engine: Engine) -> None:
    job = zoo.build_workload(zoo.get("gpt2"), tokens=1e8, precision="fp8")
    note = "fp16 instead of fp8, which V100-32GB does not have"
    assert precision_note("V100-32GB", job, engine.catalog) == (note,)
    assert note in forecast_on_accelerators("V100-32GB", 8, job, engine).assumptions
    assert precision_note("H100", job, engine.catalog) == ()


def test_a_rank_without_adapters_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="trains no adapters") as caught:
        Job(model="gpt2", amount=1e8, lora_rank=64).workload()
    assert "lora" in str(caught.value.todo)
    assert Job(model="gpt2", amount=1e8, lora_rank=64, tuning="lora").workload()


def test_a_large_effort_is_told_what_others_lost(engine: Engine) -> None:
    large = zoo.build_workload(zoo.get("llama-2-70b"), tokens=2e12, global_batch=1024)
    said = forecast_on_accelerators("A100-80GB", 2048, large, engine).caveats
    assert "took about 23 % longer in all" in said[-1]
    small = zoo.build_workload(zoo.get("llama-2-7b"), tokens=1e9)
    assert forecast_on_accelerators("A100-80GB", 8, small, engine).caveats == ()


def test_who_allows_for_restarts_is_not_told_again(engine: Engine) -> None:
    large = zoo.build_workload(zoo.get("llama-2-7b"), tokens=2e12)
    limits = Constraints(most_machines=16)
    told = advise(large, engine, limits=limits).caveats
    assert any("running steps alone" in text for text in told)
    allowed = advise(large, engine, options=SearchOptions(retry_share=0.2), limits=limits)
    assert not any("running steps alone" in text for text in allowed.caveats)
