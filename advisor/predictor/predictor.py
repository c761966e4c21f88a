"""The predictor as the rest of the program uses it: trained on the store, cached by its data."""

from __future__ import annotations

import hashlib
import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import joblib
import sklearn

from advisor import __version__, zoo
from advisor.core.errors import PredictionError
from advisor.core.files import atomic
from advisor.core.paths import TABLES_DIR
from advisor.predictor.hardware import facts_hash
from advisor.predictor.model import Prediction, StepTimeModel
from advisor.predictor.training import training_table

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.predictor.calibration import Calibration
    from advisor.predictor.jobs import Jobs
    from advisor.store import Store

logger = logging.getLogger(__name__)
FEWEST_RUNS: Final = 100
CACHES_KEPT: Final = 3


@dataclass(frozen=True, slots=True)
class Predictor:
    """A fitted model, what it was fitted on, and the user's runs that calibrate it, if any."""

    model: StepTimeModel
    data_hash: str
    version: str
    training_s: float
    calibration: Calibration | None = None

    def predict(self, jobs: Jobs) -> Prediction:
        """Predict the step of every job, calibrated by the user's runs where there are any."""
        if self.calibration is None:
            return self.model.predict(jobs)
        own = self.calibration.on_own_stack(jobs)
        return self.calibration.apply(own, self.model.predict(own))

    @classmethod
    def load(cls, store: Store, catalog: Catalog, cache_dir: Path) -> Predictor:
        """Return the predictor of the store's data: from the cache, or trained now.

        Raises
        ------
        PredictionError
            If the store holds too few usable runs.
        """
        key = data_key(store, catalog)
        path = cache_dir / f"predictor-{key[:16]}.joblib"
        cached = _read(path)
        if cached is not None and cached.data_hash == key:
            return cached
        fitted = cls.train(store, catalog, key)
        _write(fitted, path)
        return fitted

    @classmethod
    def train(cls, store: Store, catalog: Catalog, key: str) -> Predictor:
        """Train on all usable runs of the store."""
        begin = time.perf_counter()
        table = training_table(store.profiles(), catalog)
        if len(table.jobs) < FEWEST_RUNS:
            raise PredictionError(
                f"only {len(table.jobs)} usable measured runs are in the store.",
                todo="Seed it again: delete the data directory's advisor.db, or add profiles.",
            )
        model = StepTimeModel.fit(table.jobs, table.step_s, table.config, table.source)
        seconds = time.perf_counter() - begin
        logger.info("trained on %d runs in %.1f s", len(table.jobs), seconds)
        return cls(model=model, data_hash=key, version=__version__, training_s=seconds)


def data_key(store: Store, catalog: Catalog) -> str:
    """Return what the predictor depends on: runs, accelerator and model facts, code, library."""
    parts = (store.data_hash(), facts_hash(catalog), code_hash(), sklearn.__version__)
    return hashlib.sha256("|".join(parts).encode()).hexdigest()


def code_hash(*, of_cache: bool = True) -> str:
    """Return a hash of the code and facts behind the columns: a change of them retrains.

    Without `of_cache` this module is left out: it keeps predictors, but predicts nothing itself.
    """
    rooms = (Path(__file__).parent, Path(zoo.__file__).parent)
    code = sorted(path for room in rooms for path in room.rglob("*.py")
                  if of_cache or path != Path(__file__))  # fmt: skip
    facts = sorted((TABLES_DIR / "profiles").glob("model_facts*.csv"))
    digest = hashlib.sha256()
    for path in [*code, *facts]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _read(path: Path) -> Predictor | None:
    """Read our own cache; whatever is wrong with it, training again is the cure."""
    if not path.exists():
        return None
    try:
        cached = joblib.load(path)
    except Exception:  # noqa: BLE001 - a damaged pickle raises anything at all
        logger.warning("the cached predictor %s is damaged; training again", path.name)
        return None
    return cached if isinstance(cached, Predictor) else None


def _write(predictor: Predictor, path: Path) -> None:
    try:
        with atomic(path) as file:
            joblib.dump(predictor, file, compress=1)
        _forget(path.parent)
    except OSError as error:
        logger.warning("the predictor is not cached (%s); it is trained at every start", error)


def _forget(directory: Path) -> None:
    """Remove all but the newest caches: every run that a user adds makes a new one."""
    caches = sorted(directory.glob("predictor-*.joblib"), key=lambda path: path.stat().st_mtime)
    for old in caches[:-CACHES_KEPT]:
        old.unlink(missing_ok=True)
