"""Boards of new models with some runs given: what is given, what is asked, what comes of it."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from board_examples import DEVICES, PER_DEVICE, Board, board

from benchmarks.boards import anchored
from benchmarks.boards.anchored import DRAWS, Users, draws, smaller_runs
from benchmarks.boards.calibration_networks import calibration_vtrain, errors_by_runs
from benchmarks.boards.calibration_terms import OWN_RUNS
from benchmarks.boards.context import Context
from benchmarks.boards.vtrain import NetworksLeftOut

if TYPE_CHECKING:
    from benchmarks.boards.scoring import Scored

OFF = (2.0, 0.5, 1.6)
CONTEXT = Context(Path("nowhere"))


@functools.cache
def example() -> Board:
    return board(OFF)


def users() -> Users:
    return Users.of(example().store, example().left)


def networks(given: Board) -> NetworksLeftOut:
    return NetworksLeftOut(given.jobs, given.left, given.model, refused=0)


def scored(name: str, monkeypatch: pytest.MonkeyPatch, prefix: str = "") -> dict[str, float]:
    given = board(OFF, prefix=prefix)
    monkeypatch.setattr(anchored, "left_out_each", lambda *_: ((given.store, given.left),))
    (one,) = getattr(anchored, name)(CONTEXT)
    return figures(one)


def figures(one: Scored) -> dict[str, float]:
    return {row.name: row.value for row in one.rows()}


@pytest.mark.parametrize("number", [1, 3])
def test_given_runs_are_of_different_configurations_and_none_of_those_is_asked(number) -> None:
    given = users()
    found = list(draws(given, number))
    assert len(found) == DRAWS * len(OFF)
    for known, asked in found:
        assert len(set(given.config[known])) == len(known) == number
        assert not set(given.config[known]) & set(given.config[asked])
        assert len(set(given.user[np.concatenate([known, asked])])) == 1
        assert len(asked) == len(PER_DEVICE) * (len(DEVICES) - number)


def test_who_has_too_few_configurations_to_ask_about_is_no_user() -> None:
    assert list(draws(users(), len(DEVICES))) == []


def test_the_same_runs_are_drawn_again() -> None:
    first, second = list(draws(users(), 3)), list(draws(users(), 3))
    for one, other in zip(first, second, strict=True):
        assert np.concatenate(one).tolist() == np.concatenate(other).tolist()


def test_one_precision_or_source_more_is_a_user_more() -> None:
    given = example()
    frame = given.store.frame.copy()
    frame.loc[::2, "precision"] = "fp16"
    apart = Users.of(replace(given.store, frame=frame), given.left)
    assert len(np.unique(apart.user)) == 2 * len(np.unique(users().user))


def test_a_larger_cluster_is_asked_from_the_largest_smaller_one_of_its_series() -> None:
    given = users()
    pairs = smaller_runs(given)
    devices, share = given.jobs.devices, given.jobs.global_batch / given.jobs.devices
    known, asked = pairs.T
    assert len(pairs) == len(OFF) * len(PER_DEVICE) * (len(DEVICES) - 1)
    assert (2 * devices[known] == devices[asked]).all()
    assert (share[known] == share[asked]).all()
    assert (given.user[known] == given.user[asked]).all()


def test_another_accelerator_is_another_series() -> None:
    given = users()
    memory = np.where(given.jobs.devices <= DEVICES[2], 40e9, 80e9)
    apart = replace(given, jobs=replace(given.jobs, memory_bytes=memory))
    known, asked = smaller_runs(apart).T
    assert (memory[known] == memory[asked]).all()


def test_more_runs_of_a_new_model_leave_less_of_its_error(monkeypatch) -> None:
    nothing = 100 * np.mean(np.abs(example().left.predicted / example().left.measured - 1))
    one = scored("store_anchor1", monkeypatch)
    three = scored("store_anchor3", monkeypatch)
    assert nothing > 60
    assert nothing / 2 > one["store_anchor1.mape"] > three["store_anchor3.mape"]
    assert three["store_anchor3.mape"] < 10
    assert one["store_anchor1.n"] == DRAWS * len(OFF) * len(PER_DEVICE) * (len(DEVICES) - 1)
    assert "peer.first_baseline.store_anchor1.mape" in one


def test_a_smaller_run_tells_the_larger_one_and_linear_scaling_stands_beside(monkeypatch) -> None:
    found = scored("store_scaleout", monkeypatch)
    # Steps here depend on the samples of each device alone: what is linear is right but for noise.
    assert found["store_scaleout.naive_linear.mape"] < 5
    assert found["store_scaleout.mape"] < 25
    assert found["store_scaleout.n"] == len(OFF) * len(PER_DEVICE) * (len(DEVICES) - 1)


def test_of_runs_that_ship_the_names_say_so_and_no_peer_stands_beside(monkeypatch) -> None:
    found = scored("store_anchor3", monkeypatch, prefix="shipped.")
    assert "shipped.store_anchor3.mape" in found
    assert not [name for name in found if name.startswith("peer.")]


# --- calibration of language models -----------------------------------------------------------


def test_the_error_of_a_network_falls_with_every_run_and_halves_by_three() -> None:
    errors = errors_by_runs(networks(example()), draws=10)
    values = list(errors.values())
    assert tuple(errors) == OWN_RUNS
    assert values == sorted(values, reverse=True)
    assert errors[3] < errors[0] / 2


def test_without_runs_the_error_is_that_of_the_prediction_alone() -> None:
    given = board((2.0,), noise=0.0)
    assert errors_by_runs(networks(given), draws=2)[0] == pytest.approx(100.0)


def test_a_network_with_no_run_left_to_ask_is_no_user() -> None:
    whole = board((2.0, 4.0), noise=0.0)
    few = np.flatnonzero(whole.model == "model 1")[: max(OWN_RUNS)]
    kept = np.concatenate([np.flatnonzero(whole.model == "model 0"), few])
    found = NetworksLeftOut(whole.jobs.take(kept), whole.left.take(kept), whole.model[kept], 0)
    assert errors_by_runs(found, draws=2)[0] == pytest.approx(100.0)


def test_the_board_has_a_figure_for_every_number_of_runs(monkeypatch) -> None:
    given = networks(example())
    monkeypatch.setattr("benchmarks.boards.calibration_networks.left_out_networks",
                        lambda *_: given)  # fmt: skip
    (one,) = calibration_vtrain(CONTEXT)
    found = figures(one)
    assert {f"calibration_vtrain.mape_k{count}" for count in OWN_RUNS} <= set(found)
    assert found["calibration_vtrain.users"] == len(OFF)
    assert found["calibration_vtrain.left_at_k3"] == pytest.approx(
        found["calibration_vtrain.mape_k3"] / found["calibration_vtrain.mape_k0"]
    )
    assert all(row.holds for row in one.rows())
