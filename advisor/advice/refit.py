"""Refit the predictor on shipped and own runs; it is taken only if it predicts no worse."""

from __future__ import annotations

import datetime as dt
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from advisor import __version__
from advisor.advice.calibrated import MOST_OFF, far_words
from advisor.advice.refit_guard import Trial, held_out_scores
from advisor.advice.refits import Skipped, Verdict, read_refits, write_refits
from advisor.core.errors import StoreError
from advisor.core.units import number
from advisor.predictor import Predictor
from advisor.predictor.hardware import facts_of
from advisor.predictor.model import StepTimeModel
from advisor.predictor.own_runs import IMPLAUSIBLE
from advisor.predictor.predictor import Basis, basis_of
from advisor.predictor.runs import resolve_runs
from advisor.predictor.training import training_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

    from advisor.advice.refit_guard import Score
    from advisor.advice.refits import Refits
    from advisor.catalog import Catalog
    from advisor.store import Store

MOST_BEGUN: Final = 2
_GROUPS: Final = {"configurations": "new configurations", "models": "new models"}


@dataclass(frozen=True, slots=True)
class _Candidate:
    """What a refit would learn beside what the predictor in use knows."""

    trial: Trial
    skipped: tuple[Skipped, ...]

    def counts(self, wanted: Basis) -> dict[str, object]:
        """Return the numbers of a verdict."""
        own, before, after = self.trial.own, self.trial.before, self.trial.after
        return {
            "own_runs": int((own & after).sum()),
            "new_runs": int((own & after & ~before).sum()),
            "left_out": len(wanted.left_out),
            "skipped": self.skipped,
        }

    def fit(self, wanted: Basis) -> Predictor:
        """Return the predictor of the runs to learn."""
        begin = time.perf_counter()
        table = self.trial.table.take(np.flatnonzero(self.trial.after))
        model = StepTimeModel.fit(table.jobs, table.step_s, table.config, table.source)
        return Predictor(
            model=model, data_hash=wanted.key, version=__version__, basis=wanted,
            training_s=time.perf_counter() - begin,
        )  # fmt: skip


def refit(
    store: Store,
    catalog: Catalog,
    directory: Path,
    *,
    insist: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> Verdict | None:
    """Refit on the runs in use; the new predictor is taken only if it scores no worse.

    The verdict is kept in the data directory, and the new predictor there before it, each in one
    move: whoever reads meanwhile finds the old or the new.

    Parameters
    ----------
    store, catalog : Store, Catalog
        Hold the runs and know the accelerators.
    directory : Path
        The data directory.
    insist : bool
        Begin whatever came of earlier beginnings; else not after `MOST_BEGUN` without an end.
    say : callable
        Is told what begins.

    Returns
    -------
    Verdict or None
        None where the predictor in use knows all runs.

    Raises
    ------
    AdvisorError
        If the store cannot be read, or the data directory cannot be written.
    """
    begin = time.perf_counter()
    wanted = basis_of(store, catalog)
    current = Predictor.load(store, catalog, directory)
    if current.basis is None or current.basis == wanted:
        return None
    begun = read_refits(directory).begin(wanted)
    times = begun.tried.begun if begun.tried else 0
    if times > MOST_BEGUN and not insist:
        why = f"it was begun {MOST_BEGUN} times and never ended"
        verdict = Verdict(made_at=dt.datetime.now(dt.UTC), taken=False, why=why)
    else:
        _keep(begun, directory)
        verdict = _judged(store, catalog, current, wanted, directory, say)
    verdict = verdict.model_copy(update={"seconds": time.perf_counter() - begin})
    _keep(begun.end(wanted, verdict), directory)
    return verdict


def _judged(
    store: Store,
    catalog: Catalog,
    current: Predictor,
    wanted: Basis,
    directory: Path,
    say: Callable[[str], None],
) -> Verdict:
    """Try the refit, and keep it if it is taken."""
    candidate = _candidate(store, catalog, current, wanted)
    facts = candidate.counts(wanted) | {"made_at": dt.datetime.now(dt.UTC)}
    if candidate.trial.changes_nothing:
        return Verdict.make(**facts, taken=False, why="none of the new runs can be used")
    say("Comparing both predictors on runs held out …")
    scores = held_out_scores(candidate.trial)
    facts |= {"scores": scores, "taken": all(score.holds for score in scores)}
    if facts["taken"]:
        say("It predicts no worse. Fitting it with its intervals …")
        if not candidate.fit(wanted).keep(directory):
            raise _cannot_write(directory)
        facts["data_hash"] = wanted.key
    return Verdict.make(**facts, why=reason(scores))


def reason(scores: tuple[Score, ...]) -> str:
    """Return why a refit with these scores is taken or not."""
    worse = [score for score in scores if not score.holds]
    if worse:
        return "it predicts " + "; ".join(map(score_words, worse))
    own = [score for score in scores if score.whose == "own"]
    return "no held-out error grew" + "".join(f"; {score_words(score)}" for score in own)


def score_words(score: Score) -> str:
    """Return a score in words, such as ``own runs of new models: median off 31 → 12 %``."""
    whose = "your runs" if score.whose == "own" else "shipped runs"
    median = f"{number(score.median_before)} → {number(score.median_after)}"
    mean = f"{number(score.mean_before)} → {number(score.mean_after)}"
    return f"{whose} of {_GROUPS[score.held_out]} off by {median} % (median), {mean} % (mean)"


def _candidate(store: Store, catalog: Catalog, current: Predictor, wanted: Basis) -> _Candidate:
    known = current.basis or wanted.shipped
    runs = Basis(wanted.facts, wanted.added | known.added, known.left_out).runs(store)
    table = training_table(runs, catalog)
    hashes = runs["content_hash"].to_numpy(str)[table.rows]
    own = np.isin(hashes, list(wanted.added))
    before = ~own | np.isin(hashes, list(known.added))
    after = ~np.isin(hashes, list(wanted.left_out))
    off = np.abs(np.log(current.model.predict(table.jobs).step_s / table.step_s))
    far = own & ~before & (off > np.log(MOST_OFF))
    after &= ~far
    unusable = np.setdiff1d(np.flatnonzero(runs["content_hash"].isin(wanted.added)), table.rows)
    skipped = [
        *_unusable(runs.iloc[unusable], catalog),
        *(
            Skipped(run=_title(runs.iloc[table.rows[row]]), why=far_words(float(np.exp(off[row]))))
            for row in np.flatnonzero(far)
        ),
    ]
    return _Candidate(Trial(table, own, before, after), tuple(skipped))


def _unusable(runs: pd.DataFrame, catalog: Catalog) -> list[Skipped]:
    if not len(runs):
        return []
    reasons = resolve_runs(runs, facts_of(catalog, runs["accelerator"]))["reason"]
    return [
        Skipped(run=_title(run), why=str(why) or IMPLAUSIBLE)
        for (_, run), why in zip(runs.iterrows(), reasons, strict=True)
    ]


def _title(run: pd.Series[Any]) -> str:
    device = f"{number(float(run['accelerators']))} × {run['accelerator']}"
    return f"{run['model']} on {device}, {number(float(run['step_time_s']))} s a step"


def _keep(refits: Refits, directory: Path) -> None:
    try:
        write_refits(directory, refits)
    except OSError as error:
        raise _cannot_write(directory) from error


def _cannot_write(directory: Path) -> StoreError:
    return StoreError(
        "the refit cannot be kept: the data directory cannot be written.",
        where=str(directory),
        todo="Make room, or set ADVISOR_DATA_DIR to a directory that can be written.",
    )
