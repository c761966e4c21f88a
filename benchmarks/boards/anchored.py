"""Boards over the store with measured runs of the user's own: of the model, of a smaller cluster.

The model is held out; then one run or three of it are given, and the product's calibration moves
the prediction of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.predictor.effects import Labels
from benchmarks.boards.left_out import with_own_runs
from benchmarks.boards.registry import BOARDS
from benchmarks.boards.scoring import HeldOut, Scored
from benchmarks.boards.store import left_out_each
from benchmarks.report import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.predictor.arrays import FloatArray
    from advisor.predictor.jobs import Jobs
    from benchmarks.boards.context import Context
    from benchmarks.boards.left_out import LeftOut
    from benchmarks.boards.store_tables import StoreTable

BARS: Final = {
    "store_anchor1": {"median_ape": 15.0, "mape": 25.0},
    "store_anchor3": {"median_ape": 10.0, "mape": 18.0},
    "store_scaleout": {"median_ape": 7.0, "mape": 14.0},
}
# As published with the first baseline, on its own rows.
FIRST_BASELINE: Final = {
    "store_anchor1": (21.4, 34.8),
    "store_anchor3": (17.5, 28.8),
    "store_scaleout": (10.0, 20.6),
}
NAIVE_LINEAR: Final = (15.2, 30.9)
DRAWS: Final = 5
MOST_RUNS: Final = 1500  # of a user: a covariance of so many rows is inverted for none of them


@dataclass(frozen=True, slots=True)
class Users:
    """Left-out runs of the store by user: a source's runs of one model at one precision."""

    jobs: Jobs
    left: LeftOut
    source: np.ndarray
    config: np.ndarray
    user: np.ndarray

    @classmethod
    def of(cls, store: StoreTable, left: LeftOut) -> Users:
        """Collect the runs that were left out."""
        frame = store.frame.iloc[left.rows]
        columns = [frame["source"], store.things["model"][left.rows], frame["precision"]]
        user = np.stack([np.asarray(column, dtype=str) for column in columns], axis=1)
        return cls(
            jobs=store.table.jobs.take(left.rows),
            left=left,
            source=store.table.source[left.rows],
            config=store.table.config[left.rows],
            user=np.unique(user, axis=0, return_inverse=True)[1].reshape(-1),
        )

    def given(self, known: np.ndarray, asked: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """Return steps [s] and spreads of the logarithm of `asked` with the `known` runs given."""
        rows = np.concatenate([known, asked])
        return with_own_runs(self.jobs.take(rows), self.left.take(rows), len(known))


@BOARDS.register("store_anchor1")
def store_anchor1(context: Context) -> Iterator[Scored]:
    """A model that no fit has seen, of which one run is given."""
    yield from _anchored(context, "store_anchor1", 1, "one model, but for one run of it")


@BOARDS.register("store_anchor3")
def store_anchor3(context: Context) -> Iterator[Scored]:
    """A model that no fit has seen, of which three runs are given."""
    yield from _anchored(context, "store_anchor3", 3, "one model, but for three runs of it")


@BOARDS.register("store_scaleout")
def store_scaleout(context: Context) -> Iterator[Scored]:
    """A model that no fit has seen, of which a run on a smaller cluster is given."""
    board = "store_scaleout"
    for store, left in left_out_each(context, "model"):
        users = Users.of(store, left)
        pairs = smaller_runs(users)
        found = [(users.given(np.array([known]), np.array([asked]))) for known, asked in pairs]
        steps, spreads = (np.concatenate(column) for column in zip(*found, strict=True))
        known, asked = pairs.T
        held = HeldOut(left.measured[asked], steps, spreads)
        linear = _linear(users, known, asked) / left.measured[asked] - 1
        name = f"{store.prefix}{board}"
        naive = [
            Row(f"{name}.naive_linear.median_ape", float(100 * np.median(np.abs(linear))), "%"),
            Row(f"{name}.naive_linear.mape", float(100 * np.mean(np.abs(linear))), "%"),
        ]
        if not store.prefix:
            naive += [*_peers(board), *_published("naive_linear", board, NAIVE_LINEAR)]
        held_out = "one model, but for a run on a smaller cluster"
        yield _scored(store, board, "Larger clusters, with a run on a smaller one", held_out, held,
                      naive)  # fmt: skip


def _anchored(context: Context, board: str, number: int, held_out: str) -> Iterator[Scored]:
    for store, left in left_out_each(context, "model"):
        users = Users.of(store, left)
        parts = []
        for known, asked in draws(users, number):
            steps, spreads = users.given(known, asked)
            parts.append(np.stack([left.measured[asked], steps, spreads]))
        held = HeldOut(*np.concatenate(parts, axis=1))
        word = "a run" if number == 1 else f"{number} runs"
        yield _scored(store, board, f"New models, with {word} of them", held_out, held,
                      [] if store.prefix else list(_peers(board)))  # fmt: skip


def draws(users: Users, number: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield runs to give, each of another configuration, and all of the user's other ones."""
    random = np.random.default_rng(0)
    for user in np.unique(users.user):
        rows = random.permutation(np.flatnonzero(users.user == user))[:MOST_RUNS]
        configs = users.config[rows]
        if len(np.unique(configs)) <= number:
            continue
        for _ in range(DRAWS):
            shuffled = random.permutation(len(rows))
            _, first = np.unique(configs[shuffled], return_index=True)
            known = shuffled[np.sort(first)[:number]]
            yield rows[known], rows[~np.isin(configs, configs[known])]


def smaller_runs(users: Users) -> np.ndarray:
    """Return pairs of runs, shape (n, 2): one of a series on fewer devices, and one to predict.

    A series is a user's runs on one type of accelerator; the smaller run is that with the most
    similar samples per device, and of those the one on the most devices.
    """
    accelerator = Labels.of(users.jobs).accelerator
    series = np.unique(np.column_stack([users.user, accelerator]), axis=0, return_inverse=True)[1]
    series = series.reshape(-1)
    devices, share = users.jobs.devices, users.jobs.global_batch / users.jobs.devices
    pairs = []
    for one in np.unique(series):
        rows = np.flatnonzero(series == one)
        for asked in rows:
            smaller = rows[devices[rows] < devices[asked]]
            if len(smaller):
                apart = np.abs(np.log(share[smaller] / share[asked])).round(6)
                pairs.append((smaller[np.lexsort((-devices[smaller], apart))[0]], asked))
    return np.array(pairs)


def _linear(users: Users, known: np.ndarray, asked: np.ndarray) -> FloatArray:
    """Return the steps [s] at which the samples per second grow with the devices."""
    batch, devices = users.jobs.global_batch, users.jobs.devices
    per_device = users.left.measured[known] * devices[known] / batch[known]
    return np.asarray(per_device * batch[asked] / devices[asked])


def _scored(
    store: StoreTable, board: str, title: str, held_out: str, held: HeldOut, beside: list[Row]
) -> Scored:
    return Scored(
        name=f"{store.prefix}{board}",
        title=f"{title}, {store.which}",
        held_out=held_out,
        runs_of=store.runs_of,
        held=held,
        bars=BARS[board],
        beside=beside,
    )


def _peers(board: str) -> Iterator[Row]:
    yield from _published("first_baseline", board, FIRST_BASELINE[board])


def _published(peer: str, board: str, figures: tuple[float, float]) -> Iterator[Row]:
    for metric, value in zip(("median_ape", "mape"), figures, strict=True):
        yield Row(f"peer.{peer}.{board}.{metric}", value, "%")
