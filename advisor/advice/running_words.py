"""What to do with a running job, in one or two sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.core.units import HOUR_S, NBSP, hours, percent

if TYPE_CHECKING:
    from advisor.transient.running import Remaining

SOON_S: Final = 60.0
WORTH: Final = 0.05  # more chance than this is worth the move


def advice_words(
    found: Remaining, chance: float | None, asked: float, *, spot: bool, bound: bool
) -> str:
    """Return what to do now.

    Parameters
    ----------
    found : Remaining
        What is left of the job.
    chance : float or None
        Of the deadline where it runs now; None: there is none.
    asked : float
        How sure the deadline should be.
    spot, bound : bool
        Whether its machines can be taken away, and whether nothing is known of that.
    """
    if chance is None or not spot:
        return _without_choice(chance, asked, spot=spot)
    here = f"{'at most ' if bound else ''}{percent(chance)} within the deadline on spot"
    if found.switch_by_s is None or found.demand_probability is None:
        return f"No machine on demand is known to fall back to: {here}."
    sure = chance >= asked and not bound
    if found.switch_by_s > SOON_S:
        return _in_time(found.switch_by_s, here, sure=sure)
    if sure:
        return f"Stay on spot: {here}; too little time is left over to move."
    helps = found.demand_probability > chance + WORTH or (
        bound and found.demand_probability >= asked
    )
    return _late(percent(found.demand_probability), here, helps=helps)


def _in_time(switch_by_s: float, here: str, *, sure: bool) -> str:
    moment = f"switch to on demand in {hours(switch_by_s / HOUR_S)}{NBSP}h at the latest"
    if sure:
        return f"Stay on spot: {here}. If it stands still, {moment}."
    return f"Stay on spot for now and {moment}, unless it has caught up: {here}."


def _late(demand: str, here: str, *, helps: bool) -> str:
    if helps:
        return f"Switch to on demand now: {demand} there, {here}."
    return f"Too late to move: {demand} on demand, {here}. Give it more time or more machines."


def _without_choice(chance: float | None, asked: float, *, spot: bool) -> str:
    if chance is None:
        return "Stay on spot: there is no deadline." if spot else "There is no deadline."
    said = "On time" if chance >= asked else "The deadline is at risk"
    return f"{said}: {percent(chance)} within it, on machines that are not taken away."
