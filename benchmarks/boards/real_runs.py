"""Real runs on preemptible K80 against simulated ones: time, bill, and the chance of a deadline.

Nothing of these runs is used to predict them. Speed is that of the scaling table (other runs),
brought to this campaign and spread by its on-demand runs on 1 to 4 K80; lifetimes are those of K80
in the region of the run, watched in another campaign. A simulated run that loses its master is left
out: such runs were stopped, so they are not in the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from scipy.stats import binom

from advisor.core.errors import PredictionError
from advisor.core.units import HOUR_S
from advisor.transient import POLICIES, Draws, Overheads, SpotJob, known_lifetime
from advisor.transient.tables import table
from advisor.transient.together import measured_together
from benchmarks.report import Row, at_least

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.predictor.arrays import FloatArray

STEPS: Final = 64_000
# Prices of 2019 as the bills imply them [USD/h]: a K80 worker, a parameter server.
WORKER_USD_PER_H: Final = 0.2556
SERVER_USD_PER_H: Final = 0.14292
RUNS: Final = 4_000
NEVER_S: Final = 1e9  # lost workers were not replaced in these runs
CLUSTERS: Final = (2, 4, 8)
# The end of a run was seen by an evaluation that looked once a minute: times of the on-demand
# runs lie a minute apart. Each is up to so much too long.
SEEN_EVERY_S: Final = 60.0
# A machine ran so long before its first step: uptime less training time of ten on-demand runs.
# Lost workers were billed for it, the others were not.
SET_UP_S: Final = 259.0
CHANCES: Final = np.arange(1, 10) / 10
LEVEL: Final = 0.95


@dataclass(frozen=True)
class Simulated:
    """Simulated runs of a cluster: time and bill as the campaign recorded them, workers lost."""

    time_s: FloatArray
    usd: FloatArray
    lost: FloatArray


def real_runs() -> Iterator[Row]:
    """Return how many real runs lie in the predicted 90 % range.

    The campaign's bills of two K80 charge a lost worker to the end, those of four and eight until
    it was lost; `billed_usd` treats all alike.
    """
    for workers in CLUSTERS:
        real = transient(workers)
        drawn = simulated(workers, tuple(real["region"]))
        name = f"transient_runs.{workers}xK80"
        for kind, values, seen, unit in (
            ("time", drawn.time_s, real["training_time_s"], "s"),
            ("bill", drawn.usd, billed_usd(real), "USD"),
        ):
            measured = seen.to_numpy(float)
            low, high = np.quantile(values, (0.05, 0.95))
            covered = _covered(measured, values)
            yield at_least(f"{name}.{kind}_coverage_90", covered, "share", 0.85)
            inside = bool(low <= measured.mean() <= high)
            bar = f"{low:,.4g} to {high:,.4g}"
            yield Row(f"{name}.{kind}_measured_mean", float(measured.mean()), unit, bar, inside)
            yield Row(f"{name}.{kind}_predicted_mean", float(values.mean()), unit)
        as_recorded = _covered(real["cost_usd"].to_numpy(float), drawn.usd)
        yield Row(f"{name}.bill_as_recorded_coverage_90", as_recorded, "share")
        yield Row(f"{name}.workers_lost_predicted", float(drawn.lost.mean()), "per run")
        yield Row(f"{name}.workers_lost_measured", float(real["workers_lost"].mean()), "per run")
        yield Row(f"{name}.n", float(len(real)), "rows")


def reliability() -> Iterator[Row]:
    """Return how often runs met deadlines that were given chances of 10 to 90 %.

    Every run has its own deadlines, from its workers and the lifetimes of its region.
    """
    met = np.zeros(len(CHANCES))
    every = 0
    for workers in CLUSTERS:
        for region, real in transient(workers).groupby("region"):
            deadlines = np.quantile(simulated(workers, (str(region),)).time_s, CHANCES)
            times = real["training_time_s"].to_numpy(float)
            met += (times[:, None] <= deadlines).sum(axis=0)
            every += len(times)
    low, high = binom.interval(LEVEL, every, CHANCES)
    inside = (met >= low) & (met <= high)
    for place, chance in enumerate(CHANCES):
        name = f"deadline_reliability.met_at_{chance * 100:.0f}"
        bar = f"{low[place] / every:.2f} to {high[place] / every:.2f}"
        yield Row(name, float(met[place] / every), "share met", bar, bool(inside[place]))
    gap = np.abs(met / every - CHANCES)
    yield Row("deadline_reliability.mean_gap", float(gap.mean()), "chance")
    yield Row("deadline_reliability.n", float(every), "runs")


def transient(workers: int) -> pd.DataFrame:
    """Return the runs on so many preemptible K80 in one zone, with one parameter server."""
    runs = table("runs").query(f"gpus == '{workers}xK80' and parameter_servers == 1")
    runs = runs[runs["workers_lost"].notna()]
    return runs.assign(region=runs["zone"].str.rsplit("-", n=1).str[0])


def billed_usd(runs: pd.DataFrame) -> pd.Series:
    """Return bills by one rule: workers that stay while it trains, lost ones for their uptime."""
    stayed = (runs["k80"] - runs["workers_lost"]).astype(float)
    rate = stayed * WORKER_USD_PER_H + SERVER_USD_PER_H
    usd = rate * runs["training_time_s"] + WORKER_USD_PER_H * runs["lost_uptime_s"]
    return usd / HOUR_S


def simulated(workers: int, regions: tuple[str, ...]) -> Simulated:
    """Simulate as many runs on so many preemptible K80 in each of the regions."""
    drawn = [_simulated(workers, region) for region in regions]
    return Simulated(*(np.concatenate(values) for values in zip(*drawn, strict=True)))


def _simulated(workers: int, region: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    speeds = table("scaling").query("model == 'resnet-32' and gpu == 'K80'")
    speed_of = speeds.set_index("workers")["steps_per_s"]
    slower, sigma = _on_demand(speed_of)
    known = known_lifetime("K80", "gcp", region, market="preemptible")
    if known is None:
        raise PredictionError("no lifetimes of K80.")
    job = SpotJob(
        work_s=slower * STEPS / float(speed_of[workers]),
        machines=workers,
        lifetime=known.lifetime,
        usd_per_h=WORKER_USD_PER_H,
        overheads=Overheads(wait_s=NEVER_S),
        common_share=measured_together().common_share,
        hazard_log_sigma=known.log_sigma,
        work_log_sigma=sigma,
        running_s=SET_UP_S,
    )
    runs = POLICIES["chief_handover"]().simulate(job, 1, Draws(RUNS))
    rng = np.random.default_rng(0)
    # Each worker is as likely to be the master; nobody comes back.
    ended = rng.random(RUNS) * workers >= runs.revocations
    ended &= runs.finish_s < NEVER_S / 2
    lost = runs.revocations[ended]
    unseen_s = rng.uniform(0, SEEN_EVERY_S, len(lost))
    time_s = runs.finish_s[ended] + unseen_s
    paid_s = runs.paid_s[ended] + unseen_s * (workers - lost) + SET_UP_S * lost
    usd = (paid_s * WORKER_USD_PER_H + time_s * SERVER_USD_PER_H) / HOUR_S
    return time_s, usd, lost


def _on_demand(speed_of: pd.Series) -> tuple[float, float]:
    """Mean factor of on-demand runs on the scaling table, 1 to 4 K80, and its spread (log)."""
    misses = []
    for workers in (1, 2, 4):
        runs = table("runs").query(f"gpus == '{workers}xK80' and market == 'on_demand'")
        trained_s = runs["training_time_s"] - SEEN_EVERY_S / 2
        misses.append(np.log(trained_s * speed_of[workers] / STEPS))
    found = np.concatenate(misses)
    return float(np.exp(found.mean())), float(found.std(ddof=1))


def _covered(seen: FloatArray, drawn: FloatArray) -> float:
    low, high = np.quantile(drawn, (0.05, 0.95))
    return float(((seen >= low) & (seen <= high)).mean())
