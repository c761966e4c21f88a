"""No row that a board asks about reaches its training through another table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from run_examples import catalog, frame

from advisor.core.paths import TABLES_DIR
from advisor.predictor.training import training_table
from advisor.testing.reference import reference_dir
from benchmarks.boards.claim_jobs import job_of, read_claims
from benchmarks.boards.claims import same_run
from benchmarks.boards.context import Shipped
from benchmarks.boards.leaks import is_board_row, one_of_each_run, without_board_rows
from benchmarks.boards.store_tables import named
from benchmarks.boards.vtrain import read_vtrain

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = Shipped()
RUN = {"model": "OPT-350M", "accelerator": "A100-80GB", "global_batch": 64.0, "step_time_s": 1.235}


def boards() -> Path:
    reference = reference_dir()
    if reference is None:
        pytest.skip("no reference data (ADVISOR_REFERENCE_DIR)")
    return reference / "data" / "boards"


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"step_time_s": 1.2350012},
        {"model": "facebook/opt-350m"},
        {"accelerator": "NVIDIA A100-SXM4-80GB"},
        {"accelerators": 2.0},
        {"model": "something else"},
        {"accelerator": "mixed: 8xA100+8xV100"},
    ],
)
def test_a_run_is_known_however_its_table_spells_it(change) -> None:
    assert is_board_row(frame(RUN), frame(RUN | change), catalog()).tolist() == [True]


@pytest.mark.parametrize(
    "change",
    [
        {"step_time_s": 1.25},
        {"global_batch": 128.0},
        {"model": "another", "accelerator": "V100-16GB"},
        {"step_time_s": np.nan},
        {"global_batch": np.nan},
    ],
)
def test_another_run_is_not_taken_for_it(change) -> None:
    assert is_board_row(frame(RUN), frame(RUN | change), catalog()).tolist() == [False]


def test_what_is_left_has_the_other_runs_in_their_order() -> None:
    runs = frame(RUN | {"step_time_s": 3.0}, RUN, RUN | {"step_time_s": 2.0})
    left = without_board_rows(runs, frame(RUN), catalog())
    assert left["step_time_s"].tolist() == [3.0, 2.0]
    assert left.index.tolist() == [0, 1]
    assert len(runs) == 3


def test_of_a_run_that_two_tables_tell_the_first_is_kept() -> None:
    runs = frame(
        RUN | {"source": "first"}, RUN | {"step_time_s": 9.0},
        RUN | {"source": "second", "model": "opt 350m", "step_time_s": 1.2349},
        RUN | {"accelerators": 4.0}, RUN | {"precision": "fp32"}, RUN | {"step_time_s": np.nan},
        RUN | {"step_time_s": np.nan},
    )  # fmt: skip
    left = one_of_each_run(runs, catalog())
    assert len(left) == 6
    assert left["source"].tolist()[0] == "first"
    assert "second" not in set(left["source"])


def test_no_run_that_ships_is_there_twice_under_one_configuration() -> None:
    # Benchmark rounds list a system again with its old result: the store's boards call this.
    runs = SHIPPED.shipped_runs
    left = one_of_each_run(runs, SHIPPED.catalog)
    assert 0 < len(runs) - len(left) < 0.05 * len(runs)
    assert len(one_of_each_run(left, SHIPPED.catalog)) == len(left)


@pytest.mark.parametrize("board", ["vtrain_single", "vtrain_multi"])
def test_no_shipped_run_is_a_row_of_vtrain(board) -> None:
    rows = read_vtrain(boards() / f"{board}.csv")
    assert len(rows) > 80
    assert not is_board_row(SHIPPED.shipped_runs, rows, SHIPPED.catalog).any()


@pytest.mark.parametrize("board", ["vtrain_single", "vtrain_multi"])
def test_no_row_of_vtrain_is_in_two_groups_that_are_held_out_apart(board) -> None:
    rows = read_vtrain(boards() / f"{board}.csv")
    network = rows["hidden"].astype(str) + "x" + rows["layers"].astype(str)
    for _, held in rows.groupby(network):
        rest = rows[~rows.index.isin(held.index)]
        same = rest.merge(held, on=["accelerators", "global_batch", "parallelism", "step_time_s"])
        assert same.empty


def test_no_shipped_run_is_a_row_of_neusight() -> None:
    raw = pd.read_csv(boards() / "neusight_summary.csv")
    rows = raw.assign(accelerator=raw["gpu"].str.replace("_", " "), global_batch=raw["batch"],
                      step_time_s=raw["measured_ms"] / 1e3)  # fmt: skip
    assert not is_board_row(SHIPPED.shipped_runs, rows, SHIPPED.catalog).any()


def test_every_plan_of_sailor_in_the_store_is_left_out_of_its_own_board() -> None:
    raw = pd.read_csv(boards() / "sailor_plans.csv")
    first = raw["pipelines_json"].map(lambda text: json.loads(text)[0]["stages"][0][0][0])
    rows = raw.assign(accelerator=first)
    runs = SHIPPED.shipped_runs
    found = is_board_row(runs, rows, SHIPPED.catalog)
    # The store counts four devices where the plans count one machine, and spells the networks
    # and devices otherwise.
    assert set(runs[found]["source"]) == {"sailor"}
    assert found.sum() == (runs["source"] == "sailor").sum() == 24
    left = without_board_rows(runs, rows, SHIPPED.catalog)
    table = training_table(left, SHIPPED.catalog)
    assert "sailor" not in set(table.source)


def test_no_shipped_run_has_the_speed_of_a_claim_on_its_own_cluster_but_is_known_for_it() -> None:
    claims = read_claims(pd.read_csv(boards() / "claims.csv"))
    runs = SHIPPED.shipped_runs.iloc[SHIPPED.shipped.rows]
    device_s = SHIPPED.shipped.step_s * runs["accelerators"].to_numpy(float)
    per_token = device_s / (runs["global_batch"] * runs["sample_size"]).to_numpy(float)
    asked = claims[claims["n_gpus"].notna() & (claims["tokens_b"] > 0) & (claims["gpu_hours"] > 0)]
    assert len(asked) > 5
    for _, row in asked.iterrows():
        claimed = row["gpu_hours"] * 3600 / (row["tokens_b"] * 1e9)
        alike = np.abs(np.log(per_token / claimed)) < 0.005
        alike &= (runs["accelerators"] == row["n_gpus"]).to_numpy()
        alike &= np.abs(np.log(runs["params"].to_numpy(float) / (row["params_b"] * 1e9))) < 0.02
        if alike.any():
            known = same_run(row, job_of(row, SHIPPED.catalog), SHIPPED.shipped)
            assert known[alike].all(), row["job_name"]


def test_the_tables_of_cm_dare_train_nothing_but_their_own_boards() -> None:
    # `data/transient/speeds.csv` is no part of the store: the step-time model never reads it.
    speeds = pd.read_csv(TABLES_DIR / "transient" / "speeds.csv")
    assert set(speeds["gpu"]) == {"K80", "P100"}
    assert "speeds.csv" not in (TABLES_DIR / "profiles" / "sources.csv").read_text()


@pytest.mark.parametrize(
    ("label", "other"),
    [
        ("RetinaNet (SSD) 800px", "RetinaNet"),
        ("inception3", "InceptionV3"),
        ("ResNet50", "resnet-50"),
        ("mask_rcnn_R_50_FPN_1x", "mask_rcnn_R_50_FPN_3x"),
        ("mask_rcnn_R_101_FPN_100ep_LSJ", "mask_rcnn_R_101_FPN_400ep_LSJ"),
        ("retinanet_R_50_FPN_1x", "retinanet_R_50_FPN_3x"),
    ],
)
def test_one_network_under_two_names_is_held_out_whole(label, other) -> None:
    assert named(label, "model", SHIPPED) == named(other, "model", SHIPPED)


def test_networks_of_other_depth_or_size_stay_apart() -> None:
    labels = ["mask_rcnn_R_50_FPN_1x", "mask_rcnn_R_101_FPN_1x", "efficientnet_b0",
              "efficientnet_b1", "resnext101_32x8d", "resnext101_32x4d"]  # fmt: skip
    assert len({named(label, "model", SHIPPED) for label in labels}) == len(labels)


def test_no_two_things_that_are_held_out_apart_share_a_measured_run() -> None:
    # The same batch, cluster and step to nine digits under two names is one run told twice;
    # timm's round throughput of networks that are alike is not.
    runs = SHIPPED.shipped_runs[SHIPPED.shipped_runs["source"] != "timm"]
    runs = runs.assign(thing=runs["model"].map(
        {label: named(label, "model", SHIPPED) for label in runs["model"].unique()}),
        value=runs["step_time_s"].round(9))  # fmt: skip
    key = ["accelerator", "accelerators", "global_batch", "sample_size", "value"]
    shared = runs.groupby(key, dropna=False)["thing"].nunique()
    assert shared[shared > 1].empty
