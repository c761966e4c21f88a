"""Jobs in flight: what is left, forecast from real logs; full servers told from speeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.stats import binom

from advisor.core.errors import PredictionError
from advisor.transient import POLICIES, Draws, Overheads, SpotJob, known_lifetime
from advisor.transient.pace import FEWEST, Pace, pace_of
from advisor.transient.slowdown import Facts, gain_of_server, slowdown
from advisor.transient.tables import table
from advisor.transient.together import measured_together
from benchmarks.boards.real_runs import LEVEL, NEVER_S, SET_UP_S, STEPS, WORKER_USD_PER_H
from benchmarks.report import Row, at_least

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.predictor.arrays import FloatArray

MOMENTS: Final = (0.25, 0.5, 0.75)
RUNS: Final = 2_000
CHANCES: Final = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
# Workers that bring less than so much of their own speed bring nothing; more than that, their part.
NOTHING, PART = 0.25, 0.75


def in_flight() -> Iterator[Row]:
    """Return how well logs of 94 real runs, cut at three moments, tell what was left.

    The log up to the moment, the workers left, and the lifetimes of K80 in the region; nothing
    of what came later. Lost workers were not replaced.
    """
    drawn, real = zip(*_forecasts(), strict=True)
    left = np.array(real)
    bounds = np.array([np.quantile(runs, (0.05, 0.5, 0.95)) for runs in drawn])
    covered = float(((left >= bounds[:, 0]) & (left <= bounds[:, 2])).mean())
    yield at_least("in_flight.remaining_coverage_90", covered, "share", 0.85)
    error = float(np.median(np.abs(bounds[:, 1] / left - 1)))
    yield Row("in_flight.remaining_median_error", 100 * error, "%")
    for chance in CHANCES:
        met = left <= np.array([np.quantile(runs, chance) for runs in drawn])
        low, high = binom.interval(LEVEL, len(left), chance)
        bar = f"{low / len(left):.2f} to {high / len(left):.2f}"
        inside = bool(low <= met.sum() <= high)
        name = f"in_flight.met_at_{chance * 100:.0f}"
        yield Row(name, float(met.mean()), "share met", bar, inside)
    yield Row("in_flight.n", float(len(left)), "forecasts")


def _forecasts() -> Iterator[tuple[FloatArray, float]]:
    """Yield what is drawn of the time that is left, and what it was [s]."""
    for (_, zone, _), run in table("progress").groupby(["gpus", "zone", "run"]):
        step, time, workers = (
            run[name].to_numpy(float) for name in ("step", "elapsed_s", "workers")
        )
        for moment in MOMENTS:
            last = int(np.searchsorted(step, moment * STEPS)) + 1
            changes = np.flatnonzero(np.diff(workers[:last]) != 0)
            first = int(changes[-1]) + 1 if len(changes) else 0
            if last - first < FEWEST:
                continue
            pace = pace_of(step[first:last], time[first:last])
            region = str(zone).rsplit("-", 1)[0]
            left = _left(pace, step[-1] - step[last - 1], int(workers[last - 1]),
                         float(time[last - 1]), region)  # fmt: skip
            yield left, float(time[-1] - time[last - 1])


def _left(pace: Pace, steps: float, workers: int, elapsed_s: float, region: str) -> FloatArray:
    """Simulate the rest; runs that lose the master were stopped, and are not in the data."""
    known = known_lifetime("K80", "gcp", region, market="preemptible")
    if known is None:
        raise PredictionError("no lifetimes of K80.")
    work_s = steps * pace.step_s
    job = SpotJob(
        work_s=work_s, machines=workers, lifetime=known.lifetime, usd_per_h=WORKER_USD_PER_H,
        overheads=Overheads(wait_s=NEVER_S), common_share=measured_together().common_share,
        hazard_log_sigma=known.log_sigma, work_log_sigma=pace.log_sigma_over(work_s),
        running_s=SET_UP_S + elapsed_s,
    )  # fmt: skip
    runs = POLICIES["chief_handover"]().simulate(job, 1, Draws(RUNS))
    ended = np.random.default_rng(0).random(RUNS) * workers >= runs.revocations
    return runs.finish_s[ended & (runs.finish_s < NEVER_S / 2)]


def full_servers() -> Iterator[Row]:
    """Return how well full servers are told from the speed of a cluster and of one worker."""
    rows = table("scaling")
    speed = rows.set_index(["model", "gpu", "parameter_servers", "workers"])["steps_per_s"]
    told, gains = [], []
    for row in rows[rows["workers"] >= 4].to_dict("records"):
        model, gpu, servers = row["model"], row["gpu"], row["parameter_servers"]
        workers, now = row["workers"], row["steps_per_s"]
        linear = workers * float(speed[model, gpu, servers, 1])
        # It is truly full where the next workers bring nothing: the slope of the curve.
        before = float(speed[model, gpu, servers, workers - 2])
        brings = (now - before) / (2 * float(speed[model, gpu, servers, 1]))
        facts = Facts(machines=workers, machines_left=workers, alone_step_s=workers / linear,
                      servers=servers)  # fmt: skip
        pace = Pace(1 / now, 0.02, 0.0, None, 0.0)
        found = slowdown(pace, 1 / linear, 0.03, facts)
        full = found is not None and found.cause == "server_saturated"
        if not NOTHING <= brings <= PART:
            told.append(full == (brings < NOTHING))
        if servers == 1 and gpu == "P100":
            gain = gain_of_server(now, linear, 1)
            gains.append(abs(gain * now / float(speed[model, gpu, 2, workers]) - 1))
    yield at_least("full_servers.told", float(np.mean(told)), "share of clusters", 0.9)
    yield Row("full_servers.n", float(len(told)), "clusters")
    yield Row("full_servers.second_server_speed_error", 100 * float(np.mean(gains)), "%")
