"""Saved plans for pictures and for checks of the page Plans."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from typing import TYPE_CHECKING, Final

from advisor.advice import Engine
from advisor.advice.job_line import parse_job
from advisor.advice.plans import make_plan, row_of_key
from advisor.core.paths import data_dir
from advisor.search.search import SearchOptions, evaluate
from advisor.store import Store
from advisor.ui.state import DEFAULT_JOB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VARIABLE: Final = "ADVISOR_DATA_DIR"
NAMES: Final = ("Llama-2-7B, the fast way", "Llama-2-7B on spot machines", "Second choice")


@contextlib.contextmanager
def example_data(keys: Sequence[str]) -> Iterator[None]:
    """Use a data directory that holds example plans only; what was trained is taken along."""
    trained = [path for path in data_dir().glob("*") if path.suffix == ".joblib"]
    before = os.environ.get(VARIABLE)
    with tempfile.TemporaryDirectory() as folder:
        for path in trained:
            shutil.copy(path, folder)
        os.environ[VARIABLE] = folder
        try:
            save_examples(Engine.open(), keys)
            yield
        finally:
            os.environ.pop(VARIABLE)
            if before is not None:
                os.environ[VARIABLE] = before


def save_examples(engine: Engine, keys: Sequence[str]) -> None:
    """Save the plans of the sample job that the keys name, and runs of the first two.

    The last one is saved as if its machines had cost half as much in a region that is gone since.
    """
    workload = parse_job(DEFAULT_JOB).job.workload()
    table = evaluate(workload, engine.catalog, engine.predictor, SearchOptions())
    with Store.open() as store:
        saved = []
        for name, key in zip(NAMES, keys, strict=True):
            row = row_of_key(table.plans, key)
            if row is None:
                raise ValueError(f"no plan {key}")
            plan = make_plan(table, row, engine, 36.0)
            if key == keys[-1]:
                gone = {"region": "moon-north-1", "usd_per_h": plan.offer.usd_per_h / 2}
                plan = plan.model_copy(update={"offer": plan.offer.model_copy(update=gone)})
            inputs = {"job": DEFAULT_JOB, "deadline": "36", "plan": key}
            saved.append(store.save_plan(plan, workload, name=name, job=DEFAULT_JOB, inputs=inputs))
        first, second, _ = saved
        store.finish_plan(first.id, hours=1.1 * first.hours.value,
                          cost_usd=1.1 * first.cost_usd.value)  # fmt: skip
        store.finish_plan(second.id, hours=1.5 * second.hours.high,
                          note="Two restarts; the second one waited for machines.")  # fmt: skip
