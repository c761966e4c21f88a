"""``metrics.csv`` of PyTorch Lightning's CSVLogger."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.traces.draft import Draft
from advisor.traces.jsons import number
from advisor.traces.pace import Pace
from advisor.traces.reader import READERS
from advisor.traces.tables import delimiter_of, first_cells, rows

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

# Columns that some callbacks add; the logger itself writes no time.
_TIMES: Final = ("time", "timestamp", "wall_time", "created_at", "elapsed_s")


@READERS.register("lightning_csvlogger")
class LightningReader:
    """Steps, and a step time only if the user logged the time as well."""

    label: ClassVar[str] = "PyTorch Lightning metrics.csv"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 40

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See the two columns that the logger always writes."""
        cells = first_cells(head)
        return {"epoch", "step"} <= set(cells) and all(cells)

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the steps; losses may be NaN and do not matter here."""
        table = rows(source, source.lines(), delimiter_of(source.head))
        header = next(table, [])
        at = {name: i for i, name in enumerate(header)}
        timed = next((name for name in _TIMES if name in at), None)
        pace, last = Pace(), -1.0
        for cells in table:
            step = number(cells[at["step"]]) if at["step"] < len(cells) else None
            if step is None:
                continue
            last = max(last, step)
            time_s = number(cells[at[timed]]) if timed and at[timed] < len(cells) else None
            if time_s is not None:
                pace.add(step, time_s)
        if last < 0:
            raise TraceError(
                "no row has a step.", where=source.name, todo="Upload the file after training."
            )
        draft = Draft(format="lightning_csvlogger", framework="PyTorch Lightning")
        draft.steps = int(last) + 1  # the first step is 0
        draft.step_time_s = pace.step_time_s
        if draft.step_time_s is None:
            draft.warn(
                "The file has no column of time, so the step time is not available; use a "
                "profiler trace, or log the time with the other metrics."
            )
        return draft.finish()
