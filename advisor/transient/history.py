"""Lifetimes from a user's own history: a CSV of start and stop times."""

from __future__ import annotations

import csv
import datetime as dt
import math
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.core.errors import InvalidInputError
from advisor.core.units import HOUR_S
from advisor.predictor.arrays import FloatArray
from advisor.transient.fit import fit_exponential, fit_piecewise, fit_weibull, rate_bound
from advisor.transient.lifetime import Exponential, Lifetime
from advisor.transient.markets import KnownLifetime, LifetimeBasis
from advisor.transient.observed import Observed

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES: Final = 20_000_000
MOST_ROWS: Final = 500_000
FEWEST_FOR_WEIBULL: Final = 5
FORM: Final = "Columns: start, stop (empty: still running) and, if you like, revoked (1 or 0)."


def read_history(text: str, now: dt.datetime | None = None) -> Observed:
    """Read start and stop times of machines.

    A machine without stop still runs: it counts until `now`, or else until the latest time in the
    file. Without a column ``revoked`` every stop counts as a revocation.

    Raises
    ------
    InvalidInputError
        If a row cannot be read or a machine stops before it starts; names the row.
    """
    if len(text) > MOST_BYTES:
        raise InvalidInputError(
            f"more than {MOST_BYTES // 1_000_000} MB.", where="history", todo="Split the file."
        )
    try:
        rows = list(_rows(text))
    except csv.Error as error:
        raise InvalidInputError(f"it is no CSV ({error}).", where="history", todo=FORM) from None
    if not rows:
        raise InvalidInputError("it has no machine.", where="history", todo=FORM)
    latest = now or max(time for start, stop, _ in rows for time in (start, stop) if time)
    ages, gone = [], []
    for line, (start, stop, revoked) in enumerate(rows, start=2):
        age_s = ((stop or latest) - start).total_seconds()
        if age_s < 0:
            raise InvalidInputError(
                f"the machine stops {-age_s:,.0f} s before it starts.",
                where=f"history, row {line}",
                todo="Check start, stop and their time zones.",
            )
        ages.append(age_s)
        gone.append(revoked and stop is not None)
    return Observed.of_times(np.array(ages), np.array(gone))


def _rows(text: str) -> Iterator[tuple[dt.datetime, dt.datetime | None, bool]]:
    reader = csv.DictReader(text.lstrip("\ufeff").splitlines())
    names = {name.strip().lower(): name for name in reader.fieldnames or () if name}
    if not {"start", "stop"} <= set(names):
        raise InvalidInputError("there is no column start and stop.", where="history", todo=FORM)
    for line, row in enumerate(reader, start=2):
        if line > MOST_ROWS + 1:
            raise InvalidInputError(
                f"more than {MOST_ROWS:,} rows.", where="history", todo="Split the file."
            )
        where = f"history, row {line}"
        start = _time(row[names["start"]], where)
        if start is None:
            raise InvalidInputError("the start is empty.", where=where, todo=FORM)
        flag = (row[names["revoked"]] or "1").strip().lower() if "revoked" in names else "1"
        if flag not in ("1", "0", "true", "false", "yes", "no"):
            raise InvalidInputError(f"revoked is “{flag[:20]}”.", where=where, todo=FORM)
        yield start, _time(row[names["stop"]], where), flag in ("1", "true", "yes")


def _time(text: str | None, where: str) -> dt.datetime | None:
    shown = (text or "").strip()
    if not shown:
        return None
    try:
        time = dt.datetime.fromisoformat(shown)
    except ValueError:
        raise InvalidInputError(
            f"“{shown[:40]}” is no time.", where=where, todo="Write 2026-11-02 14:30:00."
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=dt.UTC)


def lifetime_of_history(observed: Observed) -> KnownLifetime:
    """Return the lifetime that a user's own machines had.

    With few revocations a constant hazard, with more an hourly one drawn to a Weibull curve; with
    none the highest rate that is compatible with what was seen, said as a bound.
    """
    revocations = observed.revocations
    words = f"{observed.n:,.0f} machines of your own, {revocations:,.0f} revoked"
    if revocations == 0:
        words = f"{words}: the highest rate that fits, 95 % sure"
        return _known(Exponential(rate_per_s=rate_bound(observed)), 0.0, words, observed)
    spread = 1 / math.sqrt(revocations + 1)
    if revocations < FEWEST_FOR_WEIBULL:
        return _known(fit_exponential(observed), spread, words, observed)
    last_h = math.ceil(float(observed.from_s.max()) / HOUR_S)
    edges = _edges(last_h)
    fitted = fit_piecewise(observed, edges, fit_weibull(observed))
    return _known(fitted, spread, words, observed)


def _edges(last_h: int) -> FloatArray:
    """Hours of the first day, then ever wider bins: later revocations are fewer."""
    later = 24.0 * 1.5 ** np.arange(40.0)
    hours = np.concatenate([np.arange(24.0), later])
    return np.asarray(hours[hours < max(1, last_h)] * HOUR_S)


def _known(lifetime: Lifetime, log_sigma: float, words: str, observed: Observed) -> KnownLifetime:
    return KnownLifetime(
        lifetime,
        log_sigma,
        LifetimeBasis("history", "", "", int(observed.n), 0, "own history", words),
    )
