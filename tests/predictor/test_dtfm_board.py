"""The board of pipelines over long links, on made-up cells whose arithmetic is known."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks.boards.dtfm import dtfm, one_cell_given
from benchmarks.boards.dtfm_cells import Constants, constants, read_cells, terms
from benchmarks.boards.dtfm_memory import (
    CAPACITY_BYTES,
    Cell,
    calibrated_work,
    calibration_cell,
    peak_bytes,
    read_memory_cells,
)

LAYER_S, SOCKET_S = 0.02, 0.015
FITS = Cell("P-8", 1, 8, 1, 4, 64, fp32=True, recompute=True, gpipe=False, out_of_memory=False)


def _row(table, setup, model, batch, value, *, network="", precision="fp16",
         metric="iteration_time"):  # fmt: skip
    return {"paper": "Decentralized Training of Foundation Models", "table_or_figure": table,
            "setup": setup, "model": model, "batch": batch, "value": value, "network": network,
            "precision": precision, "metric": metric}  # fmt: skip


@pytest.fixture(scope="module")
def frame():
    single = "single GPipe pipeline of 8 p3.2xlarge"
    rows = [
        _row("gpt3_xl_fp16.md: table 3", single, f"L{layers}", batch, network="default",
             value=1 + (batch + 7) * (LAYER_S * layers / 8 + SOCKET_S))
        for layers, batch in ((24, 64), (32, 64), (40, 64), (24, 32), (24, 96))
    ]  # fmt: skip
    known = Constants(LAYER_S, SOCKET_S)
    for case in range(1, 6):
        for system in ("Ours w scheduler", "Ours wo Scheduler", "ZeRO S3"):
            for layers in (24, 32, 40):
                for batch in (1024, 2048, 4096):
                    setup = f"somewhere; system={system}; mean of 3 run(s)"
                    rows.append(_row(f"NeurIPS2022_submission.md: Case {case} Somewhere", setup,
                                     f"L{layers} d2048", batch, 1.0))  # fmt: skip
    made = pd.DataFrame(rows)
    cells = read_cells(made)
    step = terms(cells, known) @ np.array([1.15, 1.3, 1.2])
    made.loc[made["table_or_figure"].str.contains("NeurIPS"), "value"] = step
    machine = "one p3.16xlarge, activation recompute"
    memory = [
        ("Pipe(P)-8", 4, "fp32", "iteration_time"),
        ("Pipe(P)-8", 8, "fp32", "out_of_memory"),
        ("T-4 P-2", 4, "fp16", "iteration_time"),
    ]
    for layout, micro_batch, precision, metric in memory:
        setup = f"Megatron-LM {layout}, micro-batch {micro_batch}, {machine}"
        rows_of = _row("results/gpt3_xl.md: table 5", setup, "L24", 64, 1.0,
                       precision=precision, metric=metric)  # fmt: skip
        made = pd.concat([made, pd.DataFrame([rows_of])], ignore_index=True)
    return made


def test_constants_come_from_single_pipelines(frame) -> None:
    found = constants(frame)
    assert found.layer_s == pytest.approx(LAYER_S)
    assert found.socket_s == pytest.approx(SOCKET_S)


def test_one_cell_of_each_network_calibrates_the_others(frame) -> None:
    cells = read_cells(frame)
    found = terms(cells, constants(frame))
    held, every = one_cell_given(cells, found, "dtfm")
    assert (len(held.measured), len(every.measured)) == (40, 360)
    plain = found[cells["system"] == "dtfm"].sum(axis=1)
    measured = cells.loc[cells["system"] == "dtfm", "step_time_s"]
    before = np.abs(plain / measured - 1).mean()
    assert np.abs(held.predicted / held.measured - 1).mean() < before / 2


def test_slower_networks_never_shorten_a_step(frame) -> None:
    cells = read_cells(frame)
    ours = cells[cells["system"] == "dtfm"]
    steps = terms(ours, constants(frame)).sum(axis=1).reshape(5, -1)
    assert np.all(steps[4] > steps[3])
    assert np.all(steps[3] > steps[1])


def test_a_cell_needs_more_memory_with_larger_micro_batches_and_without_recomputation() -> None:
    larger = replace(FITS, micro_batch=8)
    kept = replace(FITS, recompute=False)
    assert peak_bytes(FITS, 1.5) < peak_bytes(larger, 1.5)
    assert peak_bytes(FITS, 1.5) < peak_bytes(kept, 1.5)
    assert peak_bytes(replace(FITS, tensor_parallel=8, stages=1), 1.5) < peak_bytes(FITS, 1.5)


def test_published_cells_at_the_edge_of_16_gib_are_told_apart() -> None:
    # DS3Lab, results/gpt3_xl.md: fp16 without recomputation, 8 stages: one sample fits, two do not.
    one = Cell("P-8", 1, 8, 1, 1, 64, fp32=False, recompute=False, gpipe=False,
               out_of_memory=False)  # fmt: skip
    assert peak_bytes(one, 2.0) <= CAPACITY_BYTES < peak_bytes(replace(one, micro_batch=2), 2.0)


def test_a_measured_cell_bounds_what_the_layer_at_work_needs(frame) -> None:
    given = calibration_cell(read_memory_cells(frame))
    assert (given.micro_batch, given.fp32) == (4, True)
    work = calibrated_work(given)
    assert 1 < work < 2
    assert peak_bytes(given, work) <= CAPACITY_BYTES


def test_the_board_scores_every_system_and_all_memory_cells(frame, tmp_path) -> None:
    folder = tmp_path / "data" / "papers"
    folder.mkdir(parents=True)
    frame.to_csv(folder / "systems_b.csv", index=False)
    (scored,) = dtfm(SimpleNamespace(reference=tmp_path))
    figures = {row.name: row.value for row in scored.rows()}
    assert figures["dtfm.n"] == 40
    assert figures["dtfm.oom_right"] == 1.0
    assert figures["dtfm.oom_cells"] == 2
    assert {"dtfm.dtfm_random_mape", "dtfm.zero3_mape"} <= set(figures)
