"""How a sweep scales from one worker to two, and that a killed worker loses nothing.

``python -m benchmarks.sweep [--json] [--jobs N]``

The same table of jobs is answered by one process and by two, each with the libraries on one core;
the workers' start (they load prices and predictor) is timed apart. Then one of two workers is
killed while it works, and the table is compared with that of the undisturbed sweep.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from advisor.advice import Engine
from advisor.advice.sweep import Progress, sweep
from benchmarks import report

if TYPE_CHECKING:
    import pandas as pd

MODELS: Final = (
    "ResNet-50 · 20 epochs", "BERT-large · 20,000 steps", "GPT-2 · 2 B tokens",
    "Llama-2-7B · 1 B tokens", "ViT-L/16 · 20 epochs", "Llama-3-8B · 1 B tokens",
)  # fmt: skip
BAR: Final = 1.5
FEWEST_JOBS: Final = 8


@dataclass
class Clock:
    """When answers came; kills a worker at the answer `kill_at`, if there is one."""

    kill_at: int | None = None
    times: list[float] = field(default_factory=list)
    killed: int = 0

    def __call__(self, now: Progress) -> None:
        """Note an answer."""
        self.times.append(time.perf_counter())
        if now.done == self.kill_at:
            worker = multiprocessing.active_children()[0]
            worker.kill()
            self.killed = worker.pid or 0

    def steady_s(self, skip: int) -> float:
        """Return the seconds for an answer once the workers are there [s]."""
        return (self.times[-1] - self.times[skip]) / (len(self.times) - 1 - skip)


def main() -> int:
    """Print the rows; 1 where a bar does not hold."""
    parser = report.parser(__doc__ or "")
    parser.add_argument("--jobs", type=int, default=24)
    options = parser.parse_args()
    jobs = max(FEWEST_JOBS, options.jobs)
    engine = Engine.open()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "jobs.csv"
        lines = [f"{MODELS[i % len(MODELS)]} · batch {64 * (1 + i // len(MODELS))}"
                 for i in range(jobs)]  # fmt: skip
        table.write_text("job\n" + "\n".join(lines) + "\n")
        one, first = _swept(table, folder / "one.parquet", engine, 1, Clock())
        two, second = _swept(table, folder / "two.parquet", engine, 2, Clock())
        killed, third = _swept(table, folder / "killed.parquet", engine, 2, Clock(jobs // 3))
    rows = [
        report.Row("jobs", jobs, "jobs"),
        report.Row("one worker", first.steady_s(2), "s/job"),
        report.Row("two workers", second.steady_s(4), "s/job"),
        report.at_least("speed-up of the second worker",
                        first.steady_s(2) / second.steady_s(4), "x", BAR),
        report.Row("workers killed", 1 if third.killed else 0, "workers"),
        report.at_most("rows that differ after the kill", _differing(two, killed), "rows", 0),
        report.at_most("rows that differ by workers", _differing(one, two), "rows", 0),
    ]  # fmt: skip
    return report.show(rows, as_json=options.json)


def _swept(
    table: Path, output: Path, engine: Engine, workers: int, clock: Clock
) -> tuple[pd.DataFrame, Clock]:
    frame = sweep(table, output, workers=workers, engine=engine, progress=clock)
    return frame, clock


def _differing(a: pd.DataFrame, b: pd.DataFrame) -> int:
    """Return how many rows one table has and the other has not, or has otherwise."""
    if a.equals(b):
        return 0
    rows = [set(frame.astype(str).itertuples(index=False, name=None)) for frame in (a, b)]
    return max(len(rows[0] ^ rows[1]), abs(len(a) - len(b)), 1)


if __name__ == "__main__":
    sys.exit(main())
