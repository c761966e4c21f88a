"""Charts of Weights & Biases exported as CSV."""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.traces.draft import Draft
from advisor.traces.jsons import number
from advisor.traces.pace import Pace, time_of
from advisor.traces.reader import READERS
from advisor.traces.tables import delimiter_of, first_cells, rows

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_TIMES: Final = ("relative time (process)", "relative time (wall)", "wall time", "_timestamp")
_AXES: Final = ("step", "global_step", "train/global_step", *_TIMES)
_SERIES: Final = re.compile(r"^.+ - (.+?)(?:__MIN|__MAX)?$")
_RATE: Final = re.compile(
    r"(tokens|samples|images|sequences|examples)[-_/ ]*(?:per[-_ ]*)?s(?:ec|econd)?\b",
    re.IGNORECASE,
)
_USE: Final = re.compile(r"gpu\.\d+\.gpu$|GPU Utilization", re.IGNORECASE)


@READERS.register("wandb_chart_csv")
class WandbChartReader:
    """Step time where one axis is time and the other the step; throughput and use if charted."""

    label: ClassVar[str] = "W&B chart CSV"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 28

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See an axis and then series named “run - metric”."""
        cells = first_cells(head)
        return (
            len(cells) > 1
            and cells[0].lower() in _AXES
            and all(not cell or _SERIES.match(cell) for cell in cells[1:])
            and any(cells[1:])
        )

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the series of the first run in the chart."""
        table = rows(source, source.lines(), delimiter_of(source.head))
        header = next(table, [])
        metrics = {
            at: found[1]
            for at, name in enumerate(header)
            if at and not name.endswith(("__MIN", "__MAX")) and (found := _SERIES.match(name))
        }
        series: dict[int, list[tuple[float, float]]] = defaultdict(list)
        for cells in table:
            x = time_of(cells[0])
            for at in metrics:
                y = number(cells[at]) if at < len(cells) else None
                if x is not None and y is not None:
                    series[at].append((x, y))
        if not series:
            raise TraceError(
                "no row has a number.", where=source.name, todo="Export the chart again."
            )
        draft = Draft(format="wandb_chart_csv")
        _set_numbers(draft, header[0].lower(), {metrics[at]: series[at] for at in series})
        return draft.finish()


def _set_numbers(draft: Draft, axis: str, series: dict[str, list[tuple[float, float]]]) -> None:
    for metric, points in series.items():
        values = [y for _, y in points]
        if (rate := _RATE.search(metric)) and draft.throughput is None:
            draft.throughput = statistics.median(values)
            draft.throughput_unit = f"{rate[1].lower()}/s"
            draft.warn(f"The throughput is what “{metric}” says; per device or whole is not told.")
        elif _USE.search(metric) and draft.gpu_busy_share is None:
            draft.gpu_busy_share = statistics.fmean(values) / 100
        elif axis in _TIMES and metric.endswith("global_step"):
            pace = Pace()
            for time_s, step in points:
                pace.add(step, time_s)
            draft.step_time_s, draft.steps = pace.step_time_s, pace.steps or None
    if draft.step_time_s is None:
        draft.warn(
            "The chart has no time for its steps, so the step time is not available; export "
            "train/global_step over Relative Time (Process), or add the run's summary."
        )
