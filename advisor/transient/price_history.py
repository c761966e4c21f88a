"""A spot price history from a CSV, as evenly spaced prices."""

from __future__ import annotations

import csv
import datetime as dt
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.core.errors import InvalidInputError
from advisor.core.units import HOUR_S

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES: Final = 20_000_000
MOST_ROWS: Final = 500_000
MOST_STEPS: Final = 24 * 366
FORM: Final = "Columns: time (2026-11-02 14:30:00) and usd_per_h, one row for each change of price."
WHERE: Final = "price history"


@dataclass(frozen=True, slots=True)
class PriceHistory:
    """Prices of one machine, one an hour [USD/h]."""

    usd_per_h: tuple[float, ...]
    step_s: float = HOUR_S

    def share_at_or_below(self, ceiling_usd_per_h: float) -> float:
        """Share of the time at which the price was at or below a ceiling."""
        return float((np.asarray(self.usd_per_h) <= ceiling_usd_per_h).mean())


def read_prices(text: str) -> PriceHistory:
    """Read changes of a price; each holds until the next.

    Raises
    ------
    InvalidInputError
        If a row cannot be read, a price is not positive, or there are fewer than two times.
    """
    if len(text) > MOST_BYTES:
        raise InvalidInputError(
            f"more than {MOST_BYTES // 1_000_000} MB.", where=WHERE, todo="Give its last year."
        )
    try:
        rows = sorted(_rows(text))
    except csv.Error as error:
        raise InvalidInputError(f"it is no CSV ({error}).", where=WHERE, todo=FORM) from None
    times = np.array([time for time, _ in rows])
    if len(np.unique(times)) < 2:
        raise InvalidInputError("it has fewer than two times.", where=WHERE, todo=FORM)
    hours = min(MOST_STEPS, max(1, math.ceil((times[-1] - times[0]) / HOUR_S)))
    at = times[-1] - np.arange(hours, 0, -1) * HOUR_S  # its last year, where it is longer
    place = np.clip(np.searchsorted(times, at, side="right") - 1, 0, None)
    return PriceHistory(tuple(rows[int(one)][1] for one in place))


def _rows(text: str) -> Iterator[tuple[float, float]]:
    reader = csv.DictReader(text.lstrip("\ufeff").splitlines())
    names = {name.strip().lower(): name for name in reader.fieldnames or () if name}
    if not {"time", "usd_per_h"} <= set(names):
        raise InvalidInputError("there is no column time and usd_per_h.", where=WHERE, todo=FORM)
    for line, row in enumerate(reader, start=2):
        if line > MOST_ROWS + 1:
            raise InvalidInputError(
                f"more than {MOST_ROWS:,} rows.", where=WHERE, todo="Give its last year."
            )
        yield _row(row[names["time"]], row[names["usd_per_h"]], f"{WHERE}, row {line}")


def _row(time: str | None, price: str | None, where: str) -> tuple[float, float]:
    try:
        when = dt.datetime.fromisoformat((time or "").strip())
        usd_per_h = float(price or "")
    except ValueError:
        raise InvalidInputError(
            f"“{(time or '')[:40]}” and “{(price or '')[:20]}” are no time and price.",
            where=where,
            todo=FORM,
        ) from None
    if not (math.isfinite(usd_per_h) and usd_per_h > 0):
        raise InvalidInputError(f"a price of {usd_per_h:g} is not positive.", where=where,
                                todo=FORM)  # fmt: skip
    return (when if when.tzinfo else when.replace(tzinfo=dt.UTC)).timestamp(), usd_per_h
