"""What to measure next, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.core.units import HOUR_S, NBSP, duration, percent, usd

if TYPE_CHECKING:
    from advisor.domain import Probe, ProbeRun, Probes

MINUTE_S: Final = 60.0


def length_words(duration_s: float) -> str:
    r"""Return how long a probe runs.

    >>> length_words(300.0), length_words(7200.0)
    ('5\xa0min', '2.0\xa0h')
    """
    minutes = f"{duration_s / MINUTE_S:.0f}{NBSP}min"
    return minutes if duration_s < HOUR_S else duration(duration_s)


def now_words(probes: Probes) -> str:
    """Return how unsure the choice is without another measurement."""
    if probes.plans == 1:
        return "There is one plan to choose."
    return (
        f"Choosing now, another plan turns out over 10{NBSP}% cheaper with a chance of "
        f"{percent(probes.wrong_probability)}; against the best choice {usd(probes.regret_usd)} "
        "is expected to be lost."
    )


def place_words(run: ProbeRun) -> str:
    """Return the machines of a run and where they are rented."""
    offer = run.offer
    return f"{run.cluster} ({offer.cloud} {offer.region}, {offer.market.replace('_', '-')})"


def runs_words(probe: Probe) -> str:
    """Return what is to be run."""
    return " and ".join(
        f"{length_words(run.duration_s)} on {place_words(run)}" for run in probe.runs
    )


def advice_words(probes: Probes) -> str:
    """Return which probe to run, or that none pays, in one sentence."""
    best = probes.best
    if best is not None:
        return (
            f"Measure first: {runs_words(best)}, for {usd(best.cost_usd)}; the expected loss of a "
            f"wrong choice falls from {usd(probes.regret_usd)} to {usd(best.regret_usd)}."
        )
    if not probes.probes:
        return "No probe pays: there is nothing to measure within the limits."
    nearest = probes.probes[0]
    saving = max(probes.regret_usd - nearest.regret_usd, 0.0)
    return (
        f"No probe pays: {runs_words(nearest)} would cost {usd(nearest.cost_usd)} and save about "
        f"{usd(saving)}."
    )
