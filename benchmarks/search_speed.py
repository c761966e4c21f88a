"""How fast a job is answered: the engine is open, every price of the catalog is searched.

``python -m benchmarks.search_speed [--json] [--runs N]``

The reference is the wide pass written as a loop, the same equations one candidate at a time, on a
sample of the candidates; its time for all of them is extrapolated from the same run.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from advisor import zoo
from advisor.advice import Engine, advise, select
from advisor.predictor.baseline import step_columns
from advisor.predictor.costs import kind_of_family
from advisor.predictor.jobs import Jobs
from advisor.predictor.memory import memory_columns
from advisor.predictor.workload_columns import workload_columns
from advisor.search.constraints import Constraints
from advisor.search.hardware import hardware_table
from advisor.search.layouts import COLUMNS, enumerate_layouts, machine_counts
from advisor.search.search import SearchOptions, evaluate, within
from advisor.search.wide import HARDWARE, wide_pass
from benchmarks import report, sailor_cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

    from advisor.domain import Workload
    from advisor.predictor.compute import ComputeCosts

BAR_S: Final = 1.5
SEARCH_BAR_S: Final = 0.5
RATE_BAR: Final = 5e6
PEAK_BAR_MB: Final = 1000.0
FEWEST_RUNS: Final = 15
SAMPLE: Final = 2000
FIRST_S: Final = 0.1


@dataclass(frozen=True)
class Question:
    """A job, its limits and the options of its search."""

    model: str
    amounts: dict[str, Any]
    limits: Constraints = field(default_factory=Constraints)
    options: SearchOptions = field(default_factory=SearchOptions)
    bar_s: float | None = None

    @property
    def workload(self) -> Workload:
        """The job."""
        return zoo.build_workload(zoo.resolve(self.model), **self.amounts)


QUESTIONS: Final = {
    "llama_2_7b": Question(
        "llama-2-7b", {"tokens": 10e9, "sample_size": 4096, "global_batch": 1024},
        Constraints(deadline_h=72.0), bar_s=BAR_S,
    ),
    "resnet_50": Question("resnet-50", {"epochs": 90, "global_batch": 1024}),
    "mixtral_8x7b_lora": Question("mixtral-8x7b", {"tokens": 1e9, "tuning": "lora"}),
    "llama_3_70b_512": Question(
        "llama-3-70b", {"tokens": 100e9, "global_batch": 2048},
        options=SearchOptions(most_accelerators=512),
    ),
}  # fmt: skip


def main() -> int:
    """Ask each question many times and print how long the answers took."""
    parser = report.parser(__doc__ or "")
    parser.add_argument("--runs", type=int, default=FEWEST_RUNS, help="answers to each question")
    options = parser.parse_args()
    engine = Engine.open()
    rows: list[report.Row] = []
    for name, question in QUESTIONS.items():
        print(f"{name} …", file=sys.stderr, flush=True)
        rows += answers(name, question, engine, max(options.runs, FEWEST_RUNS))
    question = QUESTIONS["llama_2_7b"]
    rows += search_rows(question, engine, options.runs)
    rows += wide_rows(question.workload, engine, options.runs)
    rows += constraint_rows(question, engine, options.runs)
    rows += sailor_cases.rows()
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    rows.append(report.at_most("search_speed.peak_memory", peak_bytes / 1e6, "MB", PEAK_BAR_MB))
    return report.show(rows, as_json=options.json)


def answers(name: str, question: Question, engine: Engine, runs: int) -> Iterator[report.Row]:
    """Yield how long the whole answer takes, and what was searched for it."""
    workload = question.workload

    def ask() -> int:
        found = advise(workload, engine, options=question.options, limits=question.limits)
        return found.candidates_considered

    considered = ask()  # also warms the caches
    times = timed(ask, runs)
    head = f"search_speed.{name}"
    yield report.at_most(f"{head}.p50", statistics.median(times), "s", question.bar_s)
    yield report.Row(f"{head}.p90", float(np.quantile(times, 0.9)), "s")
    yield report.Row(f"{head}.candidates", considered, "")


def search_rows(question: Question, engine: Engine, runs: int) -> Iterator[report.Row]:
    """Yield how long the search takes: all offers, counts and layouts priced, and the picks."""

    def search(stop: Callable[[], bool] | None = None) -> int:
        table = evaluate(
            question.workload, engine.catalog, engine.predictor, question.options, stop=stop
        )
        return len(select(table, question.limits).picks)

    search()
    # Of one core; what other processes take of it does not count.
    times = timed(search, runs, time.process_time)
    yield report.at_most("search_speed.search.p50", statistics.median(times), "s", SEARCH_BAR_S)
    yield report.Row("search_speed.search.p90", float(np.quantile(times, 0.9)), "s")
    found = search(within(FIRST_S))
    yield report.at_least("search_speed.search.picks_after_100_ms", found, "", 1)


def wide_rows(workload: Workload, engine: Engine, runs: int) -> Iterator[report.Row]:
    """Yield the speed of the wide pass, and how it compares with a loop."""
    hardware, _ = hardware_table(engine.catalog, workload.precision)
    costs = engine.predictor.model.point.costs[kind_of_family(workload.model.family)]

    def search() -> int:
        short = wide_pass(workload, hardware, costs, most_devices=512, memory_margin=0.1)
        return int(short.considered.sum())

    evaluated = search()
    # Of one core: what other processes take of it in the meantime does not count.
    seconds = statistics.median(timed(search, runs, time.process_time))
    loop_s = loop_seconds(workload, hardware, costs) * evaluated
    yield report.Row("search_speed.wide.evaluated", evaluated, "candidates")
    yield report.Row("search_speed.wide.p50", seconds, "s")
    yield report.at_least("search_speed.wide.rate", evaluated / seconds, "candidates/s", RATE_BAR)
    yield report.Row("search_speed.wide.loop_extrapolated", loop_s, "s")
    yield report.Row("search_speed.wide.times_faster_than_loop", loop_s / seconds, "×")


def loop_seconds(workload: Workload, hardware: pd.DataFrame, costs: ComputeCosts) -> float:
    """Return the time of one candidate [s] where candidates are evaluated one by one."""
    fixed = workload_columns(workload)
    machines = hardware[hardware["devices_per_node"] == 8].to_dict("records")
    table = enumerate_layouts(workload, 8, machine_counts(8, 512))
    layouts = np.stack([getattr(table, name) for name in COLUMNS], axis=1)
    chosen = np.linspace(0, len(machines) * len(layouts) - 1, SAMPLE).astype(int)
    best = np.inf
    begin = time.process_time()
    for position in chosen.tolist():
        machine = machines[position // len(layouts)]
        layout = dict(zip(COLUMNS, layouts[position % len(layouts)].tolist(), strict=True))
        job = Jobs.from_columns(**fixed, **{name: machine[name] for name in HARDWARE}, **layout)
        if memory_columns(job).used_bytes[0] <= 0.9 * machine["memory_bytes"]:
            best = min(best, float(step_columns(job, costs).total_s[0]))
    return (time.process_time() - begin) / SAMPLE


def constraint_rows(question: Question, engine: Engine, runs: int) -> Iterator[report.Row]:
    """Yield how long a changed constraint takes on a table that is evaluated already."""
    table = evaluate(question.workload, engine.catalog, engine.predictor, question.options)
    times = timed(lambda: len(select(table, question.limits).rows), runs)
    yield report.Row("search_speed.constraint.p50", statistics.median(times) * 1e3, "ms")


def timed(
    run: Callable[[], int], runs: int, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Return the duration of each run [s]."""
    times = []
    for _ in range(runs):
        begin = clock()
        run()
        times.append(clock() - begin)
    return times


if __name__ == "__main__":
    sys.exit(main())
