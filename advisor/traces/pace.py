"""Step time from when steps were reached."""

from __future__ import annotations

import datetime as dt
import re
import statistics
from typing import Final

from advisor.traces.jsons import number

_STAMP: Final = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?")
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
# Clocks are put forward by an hour once a year; a step that seems to take that long is dropped.
_CLOCK_CHANGE_S: Final = 3600.0
_CHANGE_SPREAD_S: Final = 60.0
_LONG: Final = 20.0


def stamp_s(text: str) -> float | None:
    """Return the first date and time of a line [s]; without a zone, only differences mean anything.

    >>> stamp_s("[2024-04-06 02:59:36,250] [INFO]") - stamp_s("2024/04/06 02:59:35.750")
    0.5
    """
    found = _STAMP.search(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    try:
        when = dt.datetime(year, month, day, hour, minute, min(second, 59), tzinfo=dt.UTC)
    except ValueError:
        return None
    return (when - _EPOCH).total_seconds() + float(f"0.{found[7] or 0}")


def time_of(cell: str) -> float | None:
    """Return a number of seconds, or a date and time as `stamp_s` reads it [s].

    >>> time_of("12.5"), time_of("1970-01-01T00:01:00.500Z"), time_of("soon")
    (12.5, 60.5, None)
    """
    value = number(cell)
    return stamp_s(cell) if value is None else value


class Pace:
    """Points of (step, time); after a restart the steps that are done again replace the old ones.

    >>> pace = Pace()
    >>> for step, time in [(10, 0.0), (20, 5.0), (30, 10.0), (20, 60.0), (30, 65.0)]:
    ...     pace.add(step, time)
    >>> pace.step_time_s, pace.restarts
    (0.5, 1)
    """

    def __init__(self) -> None:
        self._points: list[tuple[float, float, int]] = []
        self.restarts = 0

    def __len__(self) -> int:
        return len(self._points)

    def add(self, step: float, time_s: float) -> None:
        """Add a point; the same step again is ignored."""
        if self._points and step == self._points[-1][0]:
            return
        if self._points and step < self._points[-1][0]:
            self.restarts += 1
            self._points = [point for point in self._points if point[0] < step]
        self._points.append((step, time_s, self.restarts))

    @property
    def steps(self) -> int:
        """Steps between the first and the last point, those without a time left out."""
        return int(sum(b[0] - a[0] for a, b in self._pairs()))

    @property
    def step_time_s(self) -> float | None:
        """Median time of a step between neighbouring points [s]."""
        gaps = [((b[1] - a[1]) / (b[0] - a[0]), b[1] - a[1]) for a, b in self._pairs()]
        if not gaps:
            return None
        usual = statistics.median(time for time, _ in gaps)
        kept = [time for time, gap in gaps if not _is_clock_change(gap, time, usual)]
        return statistics.median(kept) if kept else usual

    def _pairs(self) -> list[tuple[tuple[float, float, int], tuple[float, float, int]]]:
        """Return neighbouring points of one session between which time went on."""
        return [
            (a, b)
            for a, b in zip(self._points, self._points[1:], strict=False)
            if a[2] == b[2] and b[1] > a[1]
        ]


def _is_clock_change(gap_s: float, time_s: float, usual_s: float) -> bool:
    return abs(gap_s - _CLOCK_CHANGE_S) < _CHANGE_SPREAD_S and time_s > _LONG * usual_s
