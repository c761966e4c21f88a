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
    import pandas as pd

    from advisor.catalog import Catalog
    from advisor.predictor.calibration import Calibration
    from advisor.predictor.jobs import Jobs
    from advisor.store import Store

logger = logging.getLogger(__name__)
FEWEST_RUNS: Final = 100
CACHES_KEPT: Final = 3


@dataclass(frozen=True, slots=True)
class Basis:
    """What a predictor was trained on.

    Attributes
    ----------
    facts : str
        Hash of the shipped runs, the facts of accelerators and models, the code, the library.
    added, left_out : frozenset of str
        Content hashes of the user's runs in use, and of shipped runs that are not.
    """

    facts: str
    added: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()

    @property
    def key(self) -> str:
        """One hash of it all."""
        text = "|".join([self.facts, *sorted(self.added), "-", *sorted(self.left_out)])
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def shipped(self) -> Basis:
        """The shipped runs alone."""
        return Basis(self.facts)

    def within(self, other: Basis) -> bool:
        """Return whether all that the user did here was done in the other as well."""
        return (
            self.facts == other.facts
            and self.added <= other.added
            and self.left_out <= other.left_out
        )

    def runs(self, store: Store) -> pd.DataFrame:
        """Return the runs, with the store's columns."""
        runs = store.profiles(state=None)
        shipped = (runs["origin"] == "seed") & ~runs["content_hash"].isin(self.left_out)
        return runs[shipped | runs["content_hash"].isin(self.added)].reset_index(drop=True)


@dataclass(frozen=True, slots=True)
class Predictor:
    """A fitted model, what it was fitted on, and the user's runs that calibrate it, if any."""

    model: StepTimeModel
    data_hash: str
    version: str
    training_s: float
    calibration: Calibration | None = None
    basis: Basis | None = None

    def predict(self, jobs: Jobs) -> Prediction:
        """Predict the step of every job, calibrated by the user's runs where there are any."""
        if self.calibration is None:
            return self.model.predict(jobs)
        own = self.calibration.on_own_stack(jobs)
        return self.calibration.apply(own, self.model.predict(own))

    @classmethod
    def load(cls, store: Store, catalog: Catalog, cache_dir: Path) -> Predictor:
        """Return the predictor of the store's data: from the cache, or trained now.

        Runs of the user are learnt by a refit, which `keep` brings here. Until then the
        predictor that knows most of them is taken, and none that knows a run which the user has
        deleted, corrected or marked since; without any, one is trained on the shipped runs.

        Raises
        ------
        PredictionError
            If the store holds too few usable runs.
        """
        wanted = basis_of(store, catalog)
        cached = _read(_path(wanted, cache_dir), wanted) or _nearest(wanted, cache_dir)
        if cached is not None:
            return cached
        fitted = cls.train(store, catalog, wanted.shipped)
        fitted.keep(cache_dir)
        return fitted

    @classmethod
    def train(cls, store: Store, catalog: Catalog, basis: Basis) -> Predictor:
        """Train on all usable runs of a basis."""
        begin = time.perf_counter()
        table = training_table(basis.runs(store), catalog)
        if len(table.jobs) < FEWEST_RUNS:
            raise PredictionError(
                f"only {len(table.jobs)} usable measured runs are in the store.",
                todo="Seed it again: delete the data directory's advisor.db, or add profiles.",
            )
        model = StepTimeModel.fit(table.jobs, table.step_s, table.config, table.source)
        seconds = time.perf_counter() - begin
        logger.info("trained on %d runs in %.1f s", len(table.jobs), seconds)
        return cls(
            model=model, data_hash=basis.key, version=__version__, training_s=seconds, basis=basis
        )

    def keep(self, cache_dir: Path) -> bool:
        """Cache it, in one move; return whether that was possible."""
        return _write(self, cache_dir)


def basis_of(store: Store, catalog: Catalog) -> Basis:
    """Return what a predictor of all runs in use would be trained on."""
    own = store.own_changes()
    parts = (own.shipped, facts_hash(catalog), code_hash(), sklearn.__version__)
    facts = hashlib.sha256("|".join(parts).encode()).hexdigest()
    return Basis(facts, own.added, own.left_out)


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


def _path(basis: Basis, cache_dir: Path) -> Path:
    return cache_dir / f"predictor-{basis.facts[:8]}-{basis.key[:16]}.joblib"


def _nearest(wanted: Basis, cache_dir: Path) -> Predictor | None:
    """Return the cached predictor that knows most of what is wanted and nothing else."""
    paths = cache_dir.glob(f"predictor-{wanted.facts[:8]}-*.joblib")
    fitted = [one for path in sorted(paths) if (one := _read(path)) is not None]
    fitting = [one for one in fitted if one.basis is not None and one.basis.within(wanted)]
    return max(fitting, key=_known, default=None)


def _known(predictor: Predictor) -> int:
    return len(predictor.basis.added | predictor.basis.left_out) if predictor.basis else 0


def _read(path: Path, basis: Basis | None = None) -> Predictor | None:
    """Read our own cache; whatever is wrong with it, training again is the cure."""
    if not path.exists():
        return None
    try:
        cached = joblib.load(path)
    except Exception:  # noqa: BLE001 - a damaged pickle raises anything at all
        logger.warning("the cached predictor %s is damaged; training again", path.name)
        return None
    if not isinstance(cached, Predictor) or (basis is not None and cached.basis != basis):
        return None
    return cached


def _write(predictor: Predictor, cache_dir: Path) -> bool:
    if predictor.basis is None:
        return False
    path = _path(predictor.basis, cache_dir)
    try:
        with atomic(path) as file:
            joblib.dump(predictor, file, compress=1)
        _forget(cache_dir, _path(predictor.basis.shipped, cache_dir))
    except OSError as error:
        logger.warning("the predictor is not cached (%s); it is trained at every start", error)
        return False
    return True


def _forget(directory: Path, shipped: Path) -> None:
    """Remove all but the newest caches: every refit makes a new one; that of no own run stays."""
    caches = sorted(directory.glob("predictor-*.joblib"), key=lambda path: path.stat().st_mtime)
    for old in caches[:-CACHES_KEPT]:
        if old != shipped:
            old.unlink(missing_ok=True)
