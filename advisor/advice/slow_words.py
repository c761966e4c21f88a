"""A slow job in words: the cause, and what to do: add a server, swap a machine, move region."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from advisor.core.units import duration, number, percent
from advisor.domain.spot import SlowJob
from advisor.transient.markets import BANDS_YEAR, measured_gpus, observed_places
from advisor.transient.overheads import replacement_s

if TYPE_CHECKING:
    import pandas as pd

    from advisor.catalog import Catalog
    from advisor.transient.slowdown import Facts, Slowdown

SMALL_TENSORS: Final = 50
LARGE_TENSORS: Final = 216
MEASURED_GAIN: Final = (
    "A second one gave eight P100 1.27 to 1.75 times the speed with three networks, and nothing "
    "with the largest (2019)."
)


def slow_job(slow: Slowdown, facts: Facts, plan: pd.Series[Any], catalog: Catalog) -> SlowJob:
    """Return a slowdown with its advice."""
    gone = facts.machines - facts.machines_left
    of_time = f"a step takes {number(slow.ratio)} times the predicted time"
    gain = None if slow.gain is None else f"up to {number(slow.gain)} times the speed of now"
    if slow.cause == "revocation":
        words = f"{gone} of {facts.machines} machines are gone; {of_time}"
        advice = (f"Replace what is gone ({_replacing()}): {gain}.", *_safer_place(plan, catalog))
    elif slow.cause == "straggler":
        ratio = number(facts.slowest_ratio)
        words = f"one machine takes {ratio} times as long as the middle one; {of_time}"
        advice = (f"Swap the slowest machine for a new one: {gain}.",)
    elif slow.cause == "server_saturated":
        servers = f"{facts.servers} parameter server{'s' * (facts.servers > 1)}"
        words = f"{servers} take no more updates; {of_time}"
        advice = (
            f"Add a parameter server: {gain}. {MEASURED_GAIN}",
            "Or use fewer workers: those beyond the servers' limit are paid for nothing.",
        )
    else:
        words = f"{of_time}; nothing at hand says why"
        advice = ("Record a trace of a few steps and drop it on Profiles: it names what waits.",)
    return SlowJob(
        ratio=slow.ratio, cause=slow.cause, cause_words=words, advice=advice, gain=slow.gain
    )


def _replacing() -> str:
    cold = [duration(replacement_s(tensors, "cold")) for tensors in (SMALL_TENSORS, LARGE_TENSORS)]
    return f"a new worker trained after {cold[0]} to {cold[1]} on Google's cloud in 2019"


def _safer_place(plan: pd.Series[Any], catalog: Catalog) -> tuple[str, ...]:
    """Return the region where such machines are interrupted least, where that is known."""
    region, gpu = str(plan["region"]), str(plan["accelerator"])
    bands = catalog.tables.interruption
    own = (bands["cloud"] == plan["cloud"]) & (bands["instance_type"] == plan["instance_type"])
    known = bands[own]
    here = known[known["region"] == region]
    if len(here):
        best = known.sort_values(["high", "low", "region"]).iloc[0]
        if best["high"] < here["high"].iloc[0]:
            said = (
                f"Or move to {best['region']}: {_band(best)} of these machines are interrupted in "
                f"a month there, {_band(here.iloc[0])} in {region} (published in {BANDS_YEAR})."
            )
            return (said,)
        return ()
    short = gpu.split("-", maxsplit=1)[0]
    if plan["cloud"] != "gcp" or short not in measured_gpus():
        return ("Where such machines are interrupted less is not known.",)
    places = observed_places(short)
    place = min(places, key=lambda name: places[name].revocations / places[name].n)
    if place == region:
        return ()
    seen = places[place]
    said = (
        f"Or move to {place}: {percent(seen.revocations / seen.n)} of {seen.n:.0f} {short} were "
        "revoked within a day there in 2019; the ranks of regions are weak."
    )
    return (said,)


def _band(row: pd.Series[Any]) -> str:
    return f"{row['low'] * 100:.0f}–{row['high'] * 100:.0f} %"
