"""The boards of uneven plans, on made-up profiles whose arithmetic is known."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from advisor.catalog import load
from benchmarks.boards.sailor import leave_one_out, sailor
from benchmarks.boards.sailor_inputs import LayerTables
from benchmarks.boards.sailor_plans import Pipeline, Plan, memory_terms, time_terms
from benchmarks.boards.sailor_sheets import SheetTables, sheet_terms
from benchmarks.boards.sailor_table import Table

FORWARD, BACKWARD = 0.01, 0.02
GPU, OTHER = "GH-96", "RTX-3090"
LAYERS = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("reference")
    boards = root / "data" / "boards"
    boards.mkdir(parents=True)
    profiles = [
        {"model": "TINY-1", "gpu": gpu, "micro_batch": batch, "tensor_parallel": 1,
         "layer": layer, "forward_s": FORWARD * batch * slow, "backward_s": BACKWARD * batch * slow,
         "update_s": 0.001}
        for gpu, slow in ((GPU, 1), (OTHER, 3))
        for batch in (1, 4)
        for layer in range(LAYERS)
    ]  # fmt: skip
    pd.DataFrame(profiles).to_csv(boards / "sailor_layer_profiles.csv", index=False)
    sizes = [
        {"model": "TINY-1", "tensor_parallel": 1, "layer": layer, "params_bytes": 4e8,
         "activation_output_bytes": 1e6, "activation_input_bytes": 1e6,
         "activation_memory_bytes": 1e8}
        for layer in range(LAYERS)
    ]  # fmt: skip
    pd.DataFrame(sizes).to_csv(boards / "sailor_layer_memory.csv", index=False)
    links = [
        {"scope": "inter", "gpu": gpu, "gpus_per_node": 1, "c2": 0, "c1": 0, "c0": 1,
         "max_bytes_per_s": 1e9}
        for gpu in (GPU, OTHER)
    ]  # fmt: skip
    pd.DataFrame(links).to_csv(boards / "sailor_links.csv", index=False)
    _plans().to_csv(boards / "sailor_plans.csv", index=False)
    return root


def _row(gpus, layers, width, batch, *, speed=1.0, model="TINY-1M"):
    stages = [[[gpus, 1]] * width for _ in layers]
    slow = 3 if gpus == OTHER else 1
    steps = batch / width
    busy = [count * slow * (FORWARD + BACKWARD) for count in layers]
    return {
        "plan": f"{gpus} {layers} {width} {batch}",
        "model": model,
        "global_batch": batch,
        "micro_batch": 1,
        "step_time_s": speed * ((steps - 1) * max(busy) + sum(busy) + 0.01),
        "peak_memory_bytes": 6e9 + 1e8 * max(layers),
        "pipelines_json": json.dumps([{"layers_per_stage": layers, "stages": stages}]),
    }


def _plans():
    shapes = [([4], 1), ([2, 2], 1), ([1, 3], 1), ([2, 2], 2), ([4], 4)]
    rows = [
        _row(gpu, layers, width, batch, speed=1.2)
        for gpu in (GPU, OTHER)
        for layers, width in shapes
        for batch in (8, 16)
    ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def tables(folder):
    return LayerTables.read(folder / "data" / "boards", load())


def test_terms_of_one_device_are_the_sums_of_its_layers(tables) -> None:
    plan = Plan.of(pd.Series(_row(GPU, [4], 1, 8)), tables)
    assert time_terms(plan, tables) == pytest.approx([8 * 4 * 0.03, 0.0, 0.0, 0.001])
    states, kept, work, context = memory_terms(plan, tables)
    assert (states, kept) == pytest.approx((16 * 4e8, 4e8))
    assert work == pytest.approx(1e8 + 2e6)
    assert context == 2e9


def test_a_micro_batch_between_the_profiled_ones_is_interpolated_and_beyond_grows(tables) -> None:
    assert tables.layer_times("TINY-1", GPU, 1, 2)[0, 0] == pytest.approx(2 * FORWARD)
    assert tables.layer_times("TINY-1", GPU, 1, 8)[0, 0] == pytest.approx(8 * FORWARD)
    assert tables.layer_times("TINY-1", GPU, 2, 1)[0, 0] == pytest.approx(FORWARD / 2)


def test_an_accelerator_without_profile_is_scaled_from_one_with_it(tables) -> None:
    faster = tables.layer_times("TINY-1", "A100-80", 1, 1)
    assert np.all(faster[:, 0] < tables.layer_times("TINY-1", OTHER, 1, 1)[:, 0])


def test_replicas_exchange_gradients_and_a_network_limits_them(tables) -> None:
    plan = Plan.of(pd.Series(_row(GPU, [4], 2, 8)), tables)
    # A ring of two moves the whole buffer of 1.6 GB once at 1 GB/s.
    assert time_terms(plan, tables)[2] == pytest.approx(1.6)


def test_leaving_one_out_finds_a_common_factor(tables) -> None:
    table = Table.of(_plans(), tables)
    alone = np.flatnonzero([one == GPU for one in table.cluster])
    held = leave_one_out(table.quantity("time"), alone, table.run)
    assert held.log_sigma is not None
    zero = table.time_terms[alone].sum(axis=1)
    before, after = (np.abs(np.log(x / held.measured)).mean() for x in (zero, held.predicted))
    assert after < before
    assert np.all(held.log_sigma > 0)


def test_rows_of_a_file_are_scored_and_those_of_no_known_model_counted(folder) -> None:
    context = SimpleNamespace(reference=folder, catalog=load())
    rows = _plans()
    unknown = rows.iloc[:2].assign(model="HUGE-9", pipelines_json="[]")
    broken = rows.iloc[:1].assign(pipelines_json="not json")
    unmeasured = rows.iloc[:1].assign(step_time_s=float("nan"))
    every = pd.concat([rows, unknown, broken, unmeasured])
    (scored,) = sailor(context, every)
    figures = {row.name: row.value for row in scored.rows()}
    assert figures["sailor.n"] == len(rows)
    assert figures["sailor.n_refused"] == 4
    assert figures["sailor.mape"] < 30
    assert figures["sailor.memory_mape"] < 20


def test_a_file_of_unknown_models_only_is_refused_without_a_trace(folder) -> None:
    context = SimpleNamespace(reference=folder, catalog=load())
    (scored,) = sailor(context, _plans().assign(model="HUGE-9"))
    assert scored.held is None
    assert {row.name: row.value for row in scored.rows()} == {"sailor.n_refused": len(_plans())}


def test_terms_of_a_data_sheet_add_up_to_the_step(tables) -> None:
    line = Pipeline((1, 3), ((("GH-96", 1),), (("RTX-3090", 1),)))
    plan = Plan("TINY-1", 2, 8.0, (line,))
    found = sheet_terms(plan, tables)
    whole = time_terms(plan, SheetTables.of(tables)).sum()
    assert found.sum() == pytest.approx(whole, rel=1e-6)
    assert np.all(found >= 0)
    assert found[0] > 0
