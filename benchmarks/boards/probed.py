"""Choice of an accelerator for an unseen model: after the advised probes, and after random ones."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from advisor.predictor import StepTimeModel
from advisor.predictor.calibration import error_covariance
from advisor.predictor.held_out import folds
from advisor.predictor.value_of_information import Choices, expected_after, worth_of_measuring
from benchmarks.boards.store_tables import scope, things_of
from benchmarks.report import Row, below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.catalog import Catalog
    from advisor.predictor.arrays import FloatArray
    from advisor.predictor.training import TrainingTable
    from benchmarks.boards.context import Shipped

FEWEST_TYPES: Final = 3
FOLDS: Final = 5
# What is the same for everything that is chosen from.
SAME: Final = ("source", "thing", "accelerators", "precision", "global_batch", "sample_size")


def probing(chosen: pd.DataFrame) -> Iterator[Row]:
    """Yield the mean regret without a probe, after random and after advised ones.

    Parameters
    ----------
    chosen : DataFrame
        As `held_out_choices` returns.
    """
    columns = ["now", "random_one", "advised_one", "random_two", "advised_two"]
    over = {
        "choices": chosen[columns].mean(),
        "models": chosen.groupby("model")[columns].mean().mean(),
    }
    for name, regret in over.items():
        for column in columns:
            bar = float(regret["random_two"]) if column == "advised_two" else None
            yield below(f"probes.regret_{column}.mean_of_{name}", float(regret[column]), "%", bar)
    for column in columns:
        yield Row(f"probes.within_10.{column}", float((chosen[column] <= 10).mean()), "share")
    for name in ("now", "one", "two"):
        yield Row(f"probes.expected_regret.{name}", float(chosen[f"expected_{name}"].mean()), "%")
    yield Row("probes.n", float(len(chosen)), "choices")
    yield Row("probes.models", float(chosen["model"].nunique()), "models")


def held_out_choices(
    context: Shipped,
    *,
    sources: tuple[str, ...] | None = None,
    number: int = FOLDS,
    processes: int = -1,
) -> pd.DataFrame:
    """Choose the cheapest accelerator for jobs of models that no fit has seen.

    A choice is among `FEWEST_TYPES` or more types that one source measured with the same job on
    the same number of them; the price of each is its lowest on-demand price today. Probes are the
    measured runs on one of them or on two, given to the predictor as a user's own.

    Parameters
    ----------
    sources : tuple of str, optional
        Only runs of these, also to train on; by default all that are shipped.
    number : int
        Folds of held-out models.
    processes : int
        Fits at once; -1 for one per processor.

    Returns
    -------
    DataFrame
        ``model``, ``types`` and regrets [% of the cheapest]: ``now`` without a probe; after one
        run and after two, ``advised_one`` and ``advised_two``, ``random_one`` and ``random_two``
        (means over all runs, and over all pairs); ``expected_now``, ``expected_one`` and
        ``expected_two`` are what was expected of the advised ones.
    """
    runs = context.shipped_runs
    if sources is not None:
        runs = runs[runs["source"].isin(sources)].reset_index(drop=True)
    frame, table = scope(runs, context)
    types = pd.Series(things_of(frame["accelerator"], context))
    frame = frame.assign(
        thing=things_of(frame["model"], context),
        type=types,
        usd_per_h=types.map(_prices(context.catalog)).astype(float),
    )
    priced = frame[frame["usd_per_h"].notna()].drop_duplicates([*SAME, "type"])
    sizes = priced.groupby(list(SAME), dropna=False)["type"].transform("size")
    asked = priced[sizes >= FEWEST_TYPES]
    things = frame["thing"].to_numpy(str)
    tested = np.isin(things, asked["thing"])
    held = [np.isin(things, things[fold & tested]) for fold in folds(things, number)]
    with Parallel(n_jobs=processes) as parallel:
        parts: list[list[dict[str, object]]] = parallel(
            delayed(_choices_of_fold)(asked[mask[asked.index]], table, mask)
            for mask in held
            if mask.any()
        )
    return pd.DataFrame([row for part in parts for row in part])


def _prices(catalog: Catalog) -> pd.Series:
    """Return the lowest trusted on-demand price of one accelerator of each type [USD/h]."""
    offers = catalog.offers
    offers = offers[(offers["market"] == "on_demand") & offers["rankable"]]
    each = offers["usd_per_h"] / offers["accelerators"]
    return each.groupby(offers["accelerator"].astype(str)).min()


def _choices_of_fold(
    asked: pd.DataFrame, table: TrainingTable, held: np.ndarray
) -> list[dict[str, object]]:
    known = table.take(~held)
    model = StepTimeModel.fit(known.jobs, known.step_s, known.config, known.source)
    return [
        {"model": group["thing"].iloc[0], "types": len(group)} | _choice(group, table, model)
        for _, group in asked.groupby(list(SAME), dropna=False)
    ]


def _choice(group: pd.DataFrame, table: TrainingTable, model: StepTimeModel) -> dict[str, float]:
    """Return the regrets of one choice [% of the cheapest]."""
    rows = group.index.to_numpy()
    jobs, price = table.jobs.take(rows), group["usd_per_h"].to_numpy()
    prediction = model.predict(jobs)
    covariance = error_covariance(jobs, prediction.log_sigma, model.components)
    cheapest = float((price * table.step_s[rows]).min())
    choices = Choices(np.zeros(len(rows)), price * prediction.step_s / cheapest, covariance)
    noise = model.components.repeat_sigma
    error = np.log(table.step_s[rows] / prediction.step_s)
    regret = 100 * (price * table.step_s[rows] / cheapest - 1)
    found = {"now": float(regret[choices.best()])}
    for size, name in ((1, "one"), (2, "two")):
        sets = [list(members) for members in combinations(range(len(rows)), size)]
        worth = worth_of_measuring(choices, np.tile(covariance, (2, 2)), noise, sets)
        after = regret[[_chosen(choices, members, noise, error) for members in sets]]
        advised = int(np.argmax(worth.saving))
        found |= {
            f"advised_{name}": float(after[advised]),
            f"random_{name}": float(after.mean()),
            f"expected_{name}": 100 * float(worth.regret_after[advised]),
            "expected_now": 100 * worth.regret_before,
        }
    return found


def _chosen(choices: Choices, members: list[int], noise: float, error: FloatArray) -> int:
    """Return what is chosen after some measurements."""
    covariance = choices.covariance
    own, shared = covariance[np.ix_(members, members)], covariance[:, members]
    after = expected_after(choices, shared, own, noise, error[members][:, None])
    return int(np.argmin(after[:, 0]))
