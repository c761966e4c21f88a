"""Predictions of runs by fits that have not seen their group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest
from board_examples import COMPONENTS, board
from job_examples import make
from joblib import parallel_config

from advisor.domain import Profile, Provenance
from advisor.predictor.baseline import StepColumns
from advisor.predictor.calibration import Calibration
from advisor.predictor.components import VarianceComponents
from advisor.predictor.model import Prediction
from advisor.predictor.own_runs import OwnRunsTable
from advisor.predictor.training import TrainingTable
from benchmarks.boards import left_out
from benchmarks.boards.left_out import leave_each_out, leave_sets_out, with_own_runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.predictor.jobs import Jobs

SPELLED = {"ResNet50": "resnet-50", "resnet-50": "resnet-50", "VGG": "vgg", "BERT": "bert",
           "GPT": "gpt", "T5": "t5"}  # fmt: skip


@dataclass(frozen=True)
class Remembering:
    """In the place of both models: predicts the number of runs it knows, and tells which."""

    known: frozenset[float]
    fits: ClassVar[list[tuple[frozenset[float], frozenset[float]]]] = []

    @classmethod
    def fit(cls, jobs: Jobs, *_: Any) -> Remembering:
        return cls(frozenset(jobs.year.tolist()))

    @property
    def components(self) -> VarianceComponents:
        return VarianceComponents(COMPONENTS.shares, float(len(self.known)))


class RememberingPoint(Remembering):
    """In the place of the point model."""

    def predict(self, jobs: Jobs) -> tuple[StepColumns, None, None]:
        self.fits.append((self.known, frozenset(jobs.year.tolist())))
        steps, none = np.full(len(jobs), float(len(self.known))), np.zeros(len(jobs))
        return StepColumns(steps, none, none, none), None, None


class RememberingModel(Remembering):
    """In the place of the model with an interval; its spread is the run's own number."""

    def predict(self, jobs: Jobs) -> Prediction:
        self.fits.append((self.known, frozenset(jobs.year.tolist())))
        none = np.zeros(len(jobs))
        return Prediction(StepColumns(jobs.year, none, none, none), none, jobs.year / 100, none,
                          jobs.year.astype(int), none)  # fmt: skip


@pytest.fixture(autouse=True)
def fits(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[list[tuple[frozenset[float], frozenset[float]]]]:
    """Known and asked runs of every fit."""
    monkeypatch.setattr(Remembering, "fits", [])
    monkeypatch.setattr(left_out, "PointModel", RememberingPoint)
    monkeypatch.setattr(left_out, "StepTimeModel", RememberingModel)
    with parallel_config(backend="sequential"):
        yield Remembering.fits


def table(count: int) -> TrainingTable:
    """Return runs whose number is their year, so that a fit can tell which it knows."""
    numbers = np.arange(count, dtype=float)
    names = np.arange(count).astype(str)
    return TrainingTable(make(year=numbers), 10.0 + numbers, names, names, np.arange(count))


def labelled(repeats: int = 2) -> tuple[np.ndarray, np.ndarray]:
    labels = np.array(list(SPELLED) * repeats)
    return labels, np.array([SPELLED[label] for label in labels])


def test_no_fit_has_seen_a_run_of_what_it_is_asked_under_any_name(fits) -> None:
    labels, things = labelled()
    leave_each_out(table(len(labels)), labels, things, ["ResNet50", "VGG", "BERT"])
    assert len(fits) == 3 + 3  # one per thing, and one per share of the things
    for known, asked in fits:
        of_known, of_asked = (set(things[np.array(sorted(rows), dtype=int)])
                              for rows in (known, asked))  # fmt: skip
        assert not of_known & of_asked
        assert len(known | asked) == len(labels)


def test_only_what_is_tested_is_scored_and_every_figure_is_of_its_run() -> None:
    labels, things = labelled()
    left = leave_each_out(table(len(labels)), labels, things, ["ResNet50", "VGG"])
    assert left.rows.tolist() == [0, 2, 6, 8]
    assert left.measured.tolist() == [10.0, 12.0, 16.0, 18.0]
    assert left.log_sigma.tolist() == [0.0, 0.02, 0.06, 0.08]
    assert left.difficulty.tolist() == left.rows.tolist()
    # The point is of the fit that lacks one thing: four rows of the two spellings, two of VGG.
    assert left.predicted.tolist() == [8.0, 10.0, 8.0, 10.0]
    assert left.held.predicted is left.predicted


def test_the_spread_is_of_the_fit_that_lacks_the_runs() -> None:
    labels, things = labelled()
    left = leave_each_out(table(len(labels)), labels, things, ["VGG", "BERT", "GPT", "T5"],
                          number=2)  # fmt: skip
    assert len(left.components) == 2
    for fold, components in enumerate(left.components):
        mine = left.rows[left.fold == fold]
        assert components.repeat_sigma == len(labels) - len(mine)
        assert not set(things[mine]) & set(things[left.rows[left.fold != fold]])


def test_a_quick_look_asks_a_few_things_over_the_whole_range() -> None:
    things = np.array([f"{thing:03}" for thing in range(100)])
    left = leave_each_out(table(100), things, things, things.tolist(), quick=True)
    assert len(left.rows) <= left_out.QUICK_THINGS
    assert left.rows.min() < 10
    assert left.rows.max() > 90
    assert len(left.components) == left_out.QUICK_SPREAD_FOLDS


def test_sets_of_several_tables_are_left_out_of_their_own(fits) -> None:
    first, second = table(6), table(9)
    masks = [np.arange(6) % 3 == 2, np.arange(6) < 2]
    one, two = leave_sets_out([(first, masks), (second, [np.arange(9) > 6])])
    assert one.rows.tolist() == [0, 1, 2, 5]
    assert one.fold.tolist() == [1, 1, 0, 0]
    assert two.rows.tolist() == [7, 8]
    assert two.measured.tolist() == [17.0, 18.0]
    assert [(len(known), len(asked)) for known, asked in fits] == [(4, 2), (4, 2), (7, 2)]


@pytest.mark.parametrize("known", [1, 2, 3, 5])
def test_own_runs_move_predictions_as_they_do_in_the_product(known: int) -> None:
    given = board((2.0,), noise=0.3)
    order = np.random.default_rng(known).permutation(len(given.jobs))
    jobs, left = given.jobs.take(order), given.left.take(order)
    steps, spreads = with_own_runs(jobs, left, known)
    none = np.zeros(len(jobs))
    parts, half = StepColumns(left.predicted, none, none, none), 1.645 * left.log_sigma
    prediction = Prediction(parts, none + 1, left.log_sigma, half, left.difficulty, none)
    profile = Profile(
        model="a decoder", family="language", accelerator="A100-80GB", accelerators=8,
        global_batch=64, step_time_s=1.0, provenance=Provenance(source="own trace"),
    )  # fmt: skip
    own = np.arange(known)
    runs = OwnRunsTable((profile,) * known, jobs.take(own), left.measured[own], ())
    calibration = Calibration.fit(runs, prediction.take(own), COMPONENTS)
    asked = np.arange(known, len(jobs))
    product = calibration.apply(jobs.take(asked), prediction.take(asked))
    assert steps == pytest.approx(product.step_s)
    assert spreads == pytest.approx(product.log_sigma)


def test_without_own_runs_predictions_stay() -> None:
    given = board()
    steps, spreads = with_own_runs(given.jobs, given.left, 0)
    assert steps.tolist() == given.left.predicted.tolist()
    assert spreads == pytest.approx(given.left.log_sigma)
