"""Calibration by own runs: a model held out whole, of which so many runs are then given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from advisor.advice import Engine
from advisor.predictor import Predictor, StepTimeModel
from advisor.predictor.effects import Labels
from advisor.predictor.held_out import folds
from advisor.search.own_runs import described
from advisor.store.rows import profiles_of
from benchmarks.boards.store_tables import scope, tested_labels, things_of
from benchmarks.report import Row, at_least, below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.catalog import Catalog
    from advisor.domain import Profile
    from advisor.predictor.training import TrainingTable
    from benchmarks.boards.context import Shipped

OWN_RUNS: Final = (0, 1, 2, 3, 5)
MODEL_FOLDS: Final = 10
DRAWS: Final = 6
MOST_RUNS: Final = 400  # of a model; describing one as the search does takes a while
MOST_ASKED: Final = 20  # of each kind and draw, so that no large table speaks for all
FEWEST_RUNS: Final = 20
FEWEST_COVERED: Final = 0.85
SAME: Final = "same_accelerator"
OTHER: Final = "other_accelerators"
ELSEWHERE: Final = "same_accelerator_other_source"


def calibration(asked: pd.DataFrame) -> Iterator[Row]:
    """Yield errors and coverage with 0 to 5 own runs, by what the question shares with them.

    Parameters
    ----------
    asked : DataFrame
        As `held_out_questions` returns.
    """
    for kind in (SAME, OTHER, ELSEWHERE):
        of_kind = asked[asked["kind"] == kind]
        yield from _figures(kind, of_kind)
        yield Row(f"calibration.{kind}.n", float((of_kind["own_runs"] == 0).sum()), "questions")
        yield Row(f"calibration.{kind}.models", float(of_kind["model"].nunique()), "models")


def _figures(kind: str, asked: pd.DataFrame) -> Iterator[Row]:
    measured = asked["measured_s"].to_numpy()
    percent = 100 * np.abs(asked["predicted_s"].to_numpy() / measured - 1)
    inside = (asked["low_s"] <= measured) & (measured <= asked["high_s"])
    by_count = asked.assign(percent=percent, inside=inside).groupby("own_runs")
    of_models = _median_of_models(asked.assign(percent=percent))
    # More runs have to help where the bar asks for it: on the accelerator that they ran on.
    before = {1: 0, 3: 1} if kind == SAME else {}
    for name, values in (
        ("median_ape", by_count["percent"].median()),
        ("mape", by_count["percent"].mean()),
        ("median_of_models", of_models),
    ):
        for count, value in values.items():
            bar = float(values[before[count]]) if count in before else None
            yield below(f"calibration.{kind}.{name}.{count}_runs", float(value), "%", bar)
    bar = None if kind == ELSEWHERE else FEWEST_COVERED
    for count, value in by_count["inside"].mean().items():
        name = f"calibration.{kind}.coverage_90.{count}_runs"
        yield at_least(name, float(value), "share", bar)


def _median_of_models(asked: pd.DataFrame) -> pd.Series:
    """Return the median over models of each model's median error [%], by the number of runs."""
    of_each = asked.groupby(["own_runs", "model"])["percent"].median()
    return of_each.groupby("own_runs").median()


def held_out_questions(
    context: Shipped,
    only: list[str] | None = None,
    *,
    runs: pd.DataFrame | None = None,
    processes: int = -1,
) -> pd.DataFrame:
    """Predict runs of models that no fit has seen, with so many other runs of them given.

    A tenth of the models is held out at a time, each under all its names. A source stands for a
    user: own runs are of one source on one type of accelerator, and what is asked is never a job
    that was given.

    Parameters
    ----------
    only : list of str, optional
        Models to ask about, by the zoo's names; by default all with `FEWEST_RUNS`.
    runs : DataFrame, optional
        The measured runs; by default all that are shipped.
    processes : int
        Fits at once; -1 for one per processor.

    Returns
    -------
    DataFrame
        ``model``, ``kind`` (`SAME`, `OTHER`: of that source; `ELSEWHERE`), ``own_runs``,
        ``measured_s``, ``predicted_s`` and the bounds ``low_s`` and ``high_s``.
    """
    frame, table = scope(context.shipped_runs if runs is None else runs, context)
    labels, tested = tested_labels(frame, "model", fewest=FEWEST_RUNS, not_tested="timm")
    things = things_of(frame["model"], context)
    asked = np.isin(labels.to_numpy(str), tested)
    if only is not None:
        asked &= np.isin(things, only)
    held = [np.isin(things, things[fold & asked]) for fold in folds(things, MODEL_FOLDS)]
    with Parallel(n_jobs=processes) as parallel:
        found: list[pd.DataFrame] = parallel(
            delayed(_questions_of_fold)(frame, table, things, mask, asked, context.catalog)
            for mask in held
            if mask.any()
        )
    return pd.concat(found, ignore_index=True)


def _questions_of_fold(
    frame: pd.DataFrame,
    table: TrainingTable,
    things: np.ndarray,
    held: np.ndarray,
    asked: np.ndarray,
    catalog: Catalog,
) -> pd.DataFrame:
    known = table.take(~held)
    model = StepTimeModel.fit(known.jobs, known.step_s, known.config, known.source)
    engine = Engine(catalog, Predictor(model, data_hash="", version="", training_s=0.0), runs=0)
    parts = []
    for thing in np.unique(things[held & asked]):
        rows = frame[asked & (things == thing)]
        runs = profiles_of(rows.sample(min(len(rows), MOST_RUNS), random_state=0), None)
        parts += list(_questions_of_model(str(thing), runs, engine))
    return pd.concat(parts) if parts else pd.DataFrame()


def _questions_of_model(name: str, runs: list[Profile], engine: Engine) -> Iterator[pd.DataFrame]:
    table, _ = described(runs, engine.predictor.model, engine.catalog)
    job = Labels.of(table.jobs).groups()
    source = np.array([run.provenance.source for run in table.profiles])
    device = np.array([run.accelerator for run in table.profiles])
    most = max(OWN_RUNS)
    sites = [site for site in sorted(set(zip(source, device, strict=True)))
             if len(np.unique(job[(source == site[0]) & (device == site[1])])) > most]  # fmt: skip
    rng = np.random.default_rng(0)
    for draw in range(DRAWS if sites else 0):
        own_source, own_device = sites[draw % len(sites)]
        there = (source == own_source) & (device == own_device)
        own = _one_of_each(job, rng.permutation(np.flatnonzero(there)))[:most]
        free = ~np.isin(job, job[own])
        kinds = {
            SAME: there & free,
            OTHER: (source == own_source) & (device != own_device),
            ELSEWHERE: (source != own_source) & (device == own_device) & free,
        }
        picked = {kind: rng.permutation(np.flatnonzero(mask))[:MOST_ASKED]
                  for kind, mask in kinds.items()}  # fmt: skip
        rows = np.concatenate(list(picked.values()))
        kind = np.repeat(list(picked), [len(some) for some in picked.values()])
        for count in OWN_RUNS:
            given = [table.profiles[row] for row in own[:count]]
            prediction = engine.calibrated(given).predictor.predict(table.jobs.take(rows))
            yield pd.DataFrame(
                {
                    "model": name,
                    "kind": kind,
                    "own_runs": count,
                    "measured_s": table.step_s[rows],
                    "predicted_s": prediction.step_s,
                    "low_s": prediction.low_s,
                    "high_s": prediction.high_s,
                }
            )


def _one_of_each(group: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the first row of every group, in the order of `rows`."""
    _, first = np.unique(group[rows], return_index=True)
    return rows[np.sort(first)]
