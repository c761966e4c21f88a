r"""Traces and logs of training jobs: what was run, how fast, and where the time went.

>>> from advisor.traces import read
>>> lines = [f" iteration {i}/ 9 | elapsed time per iteration (ms): 500.0 |" for i in range(1, 4)]
>>> read("\n".join(lines).encode(), "train.log").step_time_s
0.5
"""

from advisor.traces.limits import DEFAULT_LIMITS, Limits
from advisor.traces.reader import READERS, TraceReader
from advisor.traces.reading import (
    read,
    read_all,
    read_archive,
    read_directory,
    read_many,
    read_runs,
)
from advisor.traces.runs import Result
from advisor.traces.trace import (
    CollectiveRow,
    CutOffError,
    HostTime,
    KernelRow,
    OperatorRow,
    Parts,
    RankRow,
    Timeline,
    Trace,
)

__all__ = [
    "DEFAULT_LIMITS",
    "READERS",
    "CollectiveRow",
    "CutOffError",
    "HostTime",
    "KernelRow",
    "Limits",
    "OperatorRow",
    "Parts",
    "RankRow",
    "Result",
    "Timeline",
    "Trace",
    "TraceReader",
    "read",
    "read_all",
    "read_archive",
    "read_directory",
    "read_many",
    "read_runs",
]
