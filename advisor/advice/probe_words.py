"""What to measure next, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.core.units import HOUR_S, NBSP, duration, percent, usd

if TYPE_CHECKING:
    from advisor.domain import Probe, Probes

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


def place_words(probe: Probe) -> str:
    """Return the machines of a probe and where they are rented."""
    offer = probe.offer
    return f"{probe.cluster} ({offer.cloud} {offer.region}, {offer.market.replace('_', '-')})"


def advice_words(probes: Probes) -> str:
    """Return which probe to run, or that none pays, in one sentence."""
    best = probes.best
    if best is not None:
        return (
            f"Measure first: {length_words(best.duration_s)} on {place_words(best)} for "
            f"{usd(best.cost_usd)} would lower the expected loss of a wrong choice from "
            f"{usd(probes.regret_usd)} to {usd(best.regret_usd)}."
        )
    if not probes.probes:
        return "No probe pays: there is nothing to measure within the limits."
    nearest = probes.probes[0]
    saving = max(probes.regret_usd - nearest.regret_usd, 0.0)
    return (
        f"No probe pays: {length_words(nearest.duration_s)} on {place_words(nearest)} would cost "
        f"{usd(nearest.cost_usd)} and save about {usd(saving)}."
    )
