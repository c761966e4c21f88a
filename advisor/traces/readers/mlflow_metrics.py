"""Metrics of MLflow: the files of a run's folder, and tables exported from them."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.traces.draft import Draft
from advisor.traces.jsons import document, number
from advisor.traces.pace import Pace, time_of
from advisor.traces.reader import READERS
from advisor.traces.tables import delimiter_of, first_cells, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_FILE_LINE: Final = re.compile(
    rb"\A\d{13} -?(?:[\d.]+(?:e[+-]?\d+)?|nan|inf) \d+\s*$", re.MULTILINE
)
_COLUMNS: Final = {"step", "timestamp", "value"}
_KEYS: Final = ("key", "metric", "metric_name", "name")
_SYSTEM: Final = re.compile(r"^(?:system|eval|val|test)", re.IGNORECASE)
_RUNS: Final = {"run id", "start time"}
_HISTORY: Final = re.compile(
    rb'\A(?:\xef\xbb\xbf)?\s*\{\s*"metrics"\s*:\s*\[\s*\{[^{}]{0,400}"timestamp"'
)
_MS: Final = 1e-3


@READERS.register("mlflow_metrics")
class MlflowReader:
    """Step time from the time stamps of the metric with most points."""

    label: ClassVar[str] = "MLflow metrics"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 29

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See “time value step” lines, or a table with these columns."""
        if _FILE_LINE.search(head) is not None or _HISTORY.match(head):
            return True
        names = {cell.lower() for cell in first_cells(head)}
        return names >= _RUNS or (names >= _COLUMNS and bool(names & {*_KEYS, "run_id", "run id"}))

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the points of all metrics."""
        if {cell.lower() for cell in first_cells(source.head)} >= _RUNS:
            return _of_run_table()
        paces: dict[str, Pace] = defaultdict(Pace)
        for key, time_s, step in _points(source):
            paces[key].add(step, time_s)
        if not paces:
            raise TraceError(
                "no row has a time and a step.", where=source.name, todo="Export the metric again."
            )
        training = {key: pace for key, pace in paces.items() if not _SYSTEM.match(key)}
        longest = max((training or paces).values(), key=len)
        draft = Draft(format="mlflow_metrics")
        draft.step_time_s, draft.steps = longest.step_time_s, longest.steps or None
        if draft.step_time_s is None:
            draft.warn("No metric has two steps at two times: step time not available.")
        else:
            draft.warn("The step time is right if the steps of the metrics are optimizer steps.")
        return draft.finish()


def _of_run_table() -> Trace:
    draft = Draft(format="mlflow_metrics")
    draft.warn(
        "A table of runs with the last values of their metrics and no time of a step: step time "
        "not available. Export the history of one metric instead (metrics/get-history)."
    )
    return draft.finish()


def _of_history(source: Source) -> Iterator[tuple[str, float, float]]:
    """Yield the points of an answer to ``metrics/get-history``."""
    listed = document(source).get("metrics")
    for row in listed if isinstance(listed, list) else ():
        given = row if isinstance(row, dict) else {}
        time_ms, step = number(given.get("timestamp")), number(given.get("step"))
        if time_ms is not None and step is not None:
            yield str(given.get("key", "")), time_ms * _MS, step


def _points(source: Source) -> Iterator[tuple[str, float, float]]:
    if _HISTORY.match(source.head):
        yield from _of_history(source)
        return
    if _FILE_LINE.search(source.head) is not None:
        for line in source.lines():
            cells = line.split()
            if len(cells) == 3:
                time_ms, step = number(cells[0]), number(cells[2])
                if time_ms is not None and step is not None:
                    yield "", time_ms * _MS, step
        return
    table = rows(source, source.lines(), delimiter_of(source.head))
    at = {name.lower(): i for i, name in enumerate(next(table, []))}
    if missing := sorted(_COLUMNS - set(at)):
        raise TraceError(
            f"the table has no column {' and '.join(missing)}.",
            where=source.name,
            todo="Export the history of the metric again, with its header.",
        )
    key_at = next((at[name] for name in _KEYS if name in at), None)
    for cells in table:
        if len(cells) <= max(at.values()):
            continue
        written, step = cells[at["timestamp"]], number(cells[at["step"]])
        time_ms = number(written)  # a data frame may have made dates of them
        time_s = time_of(written) if time_ms is None else time_ms * _MS
        if time_s is not None and step is not None:
            yield cells[key_at] if key_at is not None else "", time_s, step
