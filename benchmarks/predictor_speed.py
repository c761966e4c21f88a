"""How fast the predictor trains, loads and predicts, how large it is, and whether it repeats.

``python -m benchmarks.predictor_speed [--json] [--runs N] [--once]``

Trains on the shipped runs in a directory of its own; ``--once`` leaves out the second training,
which is compared with the first to the last byte.
"""

from __future__ import annotations

import io
import statistics
import sys
import tempfile
from dataclasses import fields, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

import joblib
import numpy as np

from advisor import catalog as catalogs
from advisor.predictor import Predictor
from advisor.predictor.jobs import Jobs
from advisor.predictor.predictor import basis_of
from advisor.predictor.training import training_table
from advisor.store import Store, seed
from benchmarks import report

if TYPE_CHECKING:
    from collections.abc import Iterator

CANDIDATES: Final = 100_000
FEWEST_RUNS: Final = 3
BARS: Final = {"predict_s": 1.0, "load_s": 0.5, "training_s": 60.0, "artefact_mb": 20.0}


def main() -> int:
    """Measure and print."""
    parser = report.parser(__doc__ or "")
    parser.add_argument("--runs", type=int, default=FEWEST_RUNS, help="loads and predictions")
    parser.add_argument("--once", action="store_true", help="train once only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        rows = list(figures(Path(directory), max(options.runs, 1), once=options.once))
    return report.show(rows, as_json=options.json)


def figures(directory: Path, runs: int, *, once: bool) -> Iterator[report.Row]:
    """Yield a row per figure."""
    catalog = catalogs.load()
    with Store.open(f"sqlite:///{directory}/advisor.db") as store:
        seed(store)
        basis = basis_of(store, catalog)
        first = Predictor.train(store, catalog, basis)
        yield row("training", first.training_s, "s", "training_s")
        measured = training_table(store.profiles(), catalog).jobs
        if not once:
            second = Predictor.train(store, catalog, basis)
            same = artefact(first) == artefact(second)
            yield report.at_least("predictor_speed.repeat_is_bit_identical", float(same), "", 1.0)
    first.keep(directory)
    (path,) = directory.glob("predictor-*.joblib")
    yield row("artefact", path.stat().st_size / 1e6, "MB", "artefact_mb")
    loads = [timed_load(path) for _ in range(runs)]
    yield row("load.median", statistics.median(loads), "s", "load_s")
    jobs = distinct_candidates(measured)
    first.model.predict(jobs)  # the first call also fills the processor's caches
    times = []
    for _ in range(runs):
        begin = perf_counter()
        first.model.predict(jobs)
        times.append(perf_counter() - begin)
    yield report.Row("predictor_speed.predict.candidates", len(jobs), "")
    yield row("predict.median", statistics.median(times), "s", "predict_s")
    yield report.Row("predictor_speed.predict.slowest", max(times), "s")


def row(name: str, value: float, unit: str, bar: str) -> report.Row:
    """Return a figure with its bar."""
    return report.at_most(f"predictor_speed.{name}", value, unit, BARS[bar])


def artefact(predictor: Predictor) -> bytes:
    """Return the model as it is stored, without how long its training took."""
    file = io.BytesIO()
    joblib.dump(predictor.model, file)
    return file.getvalue()


def timed_load(path: Path) -> float:
    """Return how long a stored predictor takes to read [s]; the libraries are loaded already."""
    begin = perf_counter()
    joblib.load(path)
    return perf_counter() - begin


def distinct_candidates(measured: Jobs) -> Jobs:
    """Return `CANDIDATES` jobs, no two alike: measured ones on ever more replicas."""
    names = [field.name for field in fields(measured)]
    table = np.unique(np.stack([getattr(measured, name) for name in names], axis=1), axis=0)
    known = Jobs.from_columns(**dict(zip(names, table.T, strict=True)))
    at_once = known.take(np.arange(CANDIDATES) % len(known))
    # Factors that are no ratio of two measured counts: what differs before differs after.
    times = np.array([1.0, *np.random.default_rng(0).uniform(1, 4, CANDIDATES // len(known))])
    factor = times[np.arange(CANDIDATES) // len(known)]
    return replace(
        at_once,
        data_parallel=at_once.data_parallel * factor,
        global_batch=at_once.global_batch * factor,
    )


if __name__ == "__main__":
    sys.exit(main())
