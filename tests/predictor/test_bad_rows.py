"""Rows with missing or absurd values: 'not available' with the reason, never a number."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from run_examples import CONVNET, RUN, catalog, frame

from advisor.domain import Profile, Provenance
from advisor.predictor.baseline import step_columns
from advisor.predictor.costs import START
from advisor.predictor.hardware import facts_of
from advisor.predictor.jobs import Jobs
from advisor.predictor.memory import memory_columns
from advisor.predictor.own_runs import own_runs_table
from advisor.predictor.runs import resolve_runs
from advisor.predictor.training import training_table
from advisor.testing.reference import reference_dir
from benchmarks.boards.context import Context
from benchmarks.boards.neusight_rows import read_rows
from benchmarks.boards.sailor import sailor
from benchmarks.boards.vtrain import read_vtrain

NUMBERS = ("params", "layers", "hidden", "sample_size", "forward_flops_per_sample", "year",
           "accelerators", "nodes", "global_batch", "micro_batch", "step_time_s")  # fmt: skip
ABSURD = (np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, -1e30, 1e-300, 1e-30, 1e30, 1e300, 0.5)
TEXTS = {
    "accelerator": ("", "Foo 9000", "nan", "H100" * 50, "🦙", "mixed: 2xRTX 3090+2xTITAN RTX"),
    "family": ("", "poetry", "LANGUAGE"),
    "precision": ("", "fp3", "int4", "bf16 & fp8"),
    "parallelism": ("", "tp=0;pp=0;dp=0", "cp=0", "tp=-1", "zero=9", "tp=99999999999999999999",
                    "tp=8;tp=4", "act_ckpt=maybe", "async parameter server; ps=0"),
    "interconnect": ("", "0 Gbit/s", "1e99 Gb/s", "wet string"),
    "framework": ("", "?" * 500),
    "model": ("", "\x00", "gpt-3" * 100),
}  # fmt: skip


@st.composite
def any_change(draw: st.DrawFn) -> dict[str, Any]:
    """Some columns of a run, replaced by what no run can have or nobody knows."""
    columns = draw(st.lists(st.sampled_from([*NUMBERS, *TEXTS]), min_size=1, max_size=4))
    base = draw(st.sampled_from([{}, CONVNET]))
    return base | {name: draw(st.sampled_from(TEXTS.get(name, ABSURD))) for name in columns}


def physics(jobs: Jobs) -> np.ndarray:
    return np.concatenate([step_columns(jobs, START).total_s, memory_columns(jobs).used_bytes])


@settings(max_examples=60)
@given(changes=st.lists(any_change(), min_size=1, max_size=8))
def test_any_row_is_refused_with_a_reason_or_has_a_step_that_can_be(changes) -> None:
    profiles = frame(*changes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runs = resolve_runs(profiles, facts_of(catalog(), profiles["accelerator"]))
        usable = (runs["reason"] == "").to_numpy()
        found = physics(Jobs.from_frame(runs[usable]))
    assert len(runs) == len(changes)
    assert np.isfinite(found).all()
    assert (found > 0).all()
    assert runs["reason"].map(lambda text: isinstance(text, str) and text == text.strip()).all()


@settings(max_examples=40)
@given(change=any_change())
def test_a_bad_row_changes_nothing_about_its_neighbours(change) -> None:
    alone = training_table(frame({}, CONVNET), catalog())
    among = training_table(frame({}, change, CONVNET), catalog())
    kept = np.isin(among.rows, [0, 2])
    assert among.rows[kept].tolist() == [0, 2]
    assert among.step_s[kept].tolist() == alone.step_s.tolist()
    for name in Jobs.__dataclass_fields__:
        assert getattr(among.jobs, name)[kept].tolist() == getattr(alone.jobs, name).tolist()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"accelerators": 0.0}, "the number of accelerators is not stated"),
        ({"accelerators": np.nan}, "the number of accelerators is not stated"),
        ({"params": 1e30, "layers": np.nan, "hidden": np.nan}, "the parameter count is absurd"),
        ({"params": 1e30}, "the parameter count is absurd"),
        ({"layers": 1e9}, "the layer count is absurd"),
        ({"accelerator": "Foo 9000"}, "the accelerator is unknown"),
        ({"accelerator": ""}, "the accelerator is unknown"),
        ({"global_batch": np.nan}, "the global batch is not stated"),
        ({"global_batch": -8.0}, "the global batch is not stated"),
        (
            {"family": "", "forward_flops_per_sample": 1e12},
            "a number of the run is missing or infinite",
        ),
        ({"sample_size": -1e30}, "the sample size is absurd"),
        ({"sample_size": 1e12}, "the sample size is absurd"),
        ({"accelerators": 1e30}, "the number of accelerators is absurd"),
        ({"global_batch": 1e30}, "the global batch is absurd"),
        ({"year": 1e30}, "the year is absurd"),
    ],
)
def test_the_reason_names_what_is_wrong(change, why) -> None:
    profiles = frame(change)
    runs = resolve_runs(profiles, facts_of(catalog(), profiles["accelerator"]))
    assert runs["reason"].tolist() == [why]


@given(step=st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -3.0, 1e-12, 1e12]))
def test_a_step_that_cannot_be_trains_nothing(step) -> None:
    assert training_table(frame({"step_time_s": step}), catalog()).rows.tolist() == []


# --- the user's own runs ---------------------------------------------------------------------

OWN = {"model": "a decoder", "family": "language", "params": 6.7e9, "layers": 32, "hidden": 4096,
       "sample_size": 2048, "accelerator": "A100-80GB", "accelerators": 8, "global_batch": 64,
       "step_time_s": 10.0}  # fmt: skip


def own(**changes: Any) -> Profile:
    return Profile(**OWN | changes, provenance=Provenance(source="own trace"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"accelerator": "Foo 9000"}, "the accelerator is unknown"),
        ({"global_batch": None}, "the global batch is not stated"),
        ({"params": 1e30}, "the parameter count is absurd"),
        ({"params": None, "layers": None, "hidden": None}, "neither FLOPs nor shape"),
        ({"step_time_s": 1e-9}, "its speed is not possible"),
        ({"step_time_s": 1e9}, "its speed is not possible"),
        ({"global_batch": 1e30}, "the global batch is absurd"),
        ({"accelerators": 1e30}, "the number of accelerators is absurd"),
    ],
)
def test_an_own_run_that_cannot_be_is_listed_with_the_reason(change, why) -> None:
    good, bad = own(), own(**change)
    table = own_runs_table([bad, good], [None, None], catalog())
    assert table.profiles == (good,)
    ((profile, said),) = table.unused
    assert profile == bad
    assert why in said
    assert np.isfinite(physics(table.jobs)).all()


@pytest.mark.parametrize("name", ["params", "accelerators", "global_batch", "step_time_s"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_numbers_that_no_run_has_are_no_profile(name, value) -> None:
    with pytest.raises(ValidationError):
        own(**{name: value})


def test_no_runs_are_no_error() -> None:
    table = own_runs_table([], [], catalog())
    assert (table.profiles, table.unused, len(table.jobs)) == ((), (), 0)


# --- rows of a board -------------------------------------------------------------------------

VTRAIN = {"gpus": 8, "global_batch": 32, "micro_batch": 4, "hidden": 1024, "heads": 16,
          "layers": 24, "seq_len": 1024, "tp": 2, "dp": 2, "pp": 2, "step_time_s": 0.2197,
          "gpu": "A100-SXM4-80GB", "source": "a test"}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"gpus": 0}, {"hidden": np.nan}, {"layers": 0}, {"layers": 1e30}, {"global_batch": np.nan},
        {"gpu": "Foo 9000"}, {"step_time_s": np.nan}, {"step_time_s": -1}, {"seq_len": 0},
        {"hidden": 1e30}, {"step_time_s": np.inf},
    ],
)  # fmt: skip
def test_a_row_of_a_board_that_cannot_be_is_refused_and_the_others_are_not(
    change, tmp_path
) -> None:
    path = tmp_path / "rows.csv"
    pd.DataFrame([VTRAIN, VTRAIN | change, VTRAIN]).to_csv(path, index=False)
    rows = read_vtrain(path)
    assert training_table(rows, catalog()).rows.tolist() == [0, 2]


SPOILT_PLANS = {
    "no batch": {"global_batch": np.nan}, "empty batch": {"global_batch": 0},
    "no micro-batch": {"micro_batch": np.nan}, "endless micro-batch": {"micro_batch": np.inf},
    "micro-batch above the batch": {"micro_batch": 1e30}, "negative batch": {"global_batch": -8},
    "no model": {"model": np.nan}, "unknown model": {"model": "Foo 9000"},
    "no pipelines": {"pipelines_json": np.nan}, "no JSON": {"pipelines_json": "{"},
    "no chains": {"pipelines_json": "[]"}, "unknown accelerator":
    {"pipelines_json": '[{"layers_per_stage": [26], "stages": [[["Foo 9000", 4]]]}]'},
    "no layers": {"pipelines_json": '[{"layers_per_stage": [0], "stages": [[["GH-96", 4]]]}]'},
    "no step": {"step_time_s": np.nan}, "no time": {"step_time_s": 0},
    "text for a step": {"step_time_s": "fast"},
}  # fmt: skip


@pytest.mark.parametrize("name", SPOILT_PLANS)
def test_a_plan_that_cannot_be_counts_as_refused_and_the_others_are_scored(name) -> None:
    reference = reference_dir()
    if reference is None:
        pytest.skip("no reference data (ADVISOR_REFERENCE_DIR)")
    plans = pd.read_csv(reference / "data" / "boards" / "sailor_plans.csv").head(3).astype(object)
    spoilt = plans.iloc[[0]].assign(**SPOILT_PLANS[name])
    (scored,) = sailor(Context(reference), pd.concat([plans, spoilt], ignore_index=True))
    figures = {row.name: row.value for row in scored.rows()}
    assert figures["sailor.n_refused"] == 1
    assert figures["sailor.n"] == 3
    assert np.isfinite(figures["sailor.mape"])
    assert np.isfinite(figures["sailor.memory_mape"])


ITERATION = {"model": "gpt2_large", "seq_len": 1024, "batch": 4, "gpu": "NVIDIA_L4",
             "mode": "train", "option": "", "measured_ms": 900.0}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"model": np.nan}, {"model": "foo-9000"}, {"gpu": np.nan}, {"gpu": "Foo 9000"},
        {"seq_len": np.nan}, {"seq_len": 0}, {"seq_len": 1e30}, {"seq_len": np.inf},
        {"batch": 0}, {"batch": -4}, {"batch": np.inf}, {"mode": np.nan}, {"option": "tp0"},
        {"option": "magic"}, {"measured_ms": np.nan}, {"measured_ms": "fast"},
        {"measured_ms": 1e30},
    ],
)  # fmt: skip
def test_an_iteration_that_cannot_be_is_not_usable_and_the_others_are(change) -> None:
    raw = pd.DataFrame([ITERATION, ITERATION | change, ITERATION])
    assert read_rows(raw, catalog())["usable"].tolist() == [True, False, True]


def test_the_example_is_a_run_that_can_be() -> None:
    table = training_table(frame(RUN), catalog())
    assert table.rows.tolist() == [0]
    assert 0.5 < float(step_columns(table.jobs, START).total_s[0]) < 100
