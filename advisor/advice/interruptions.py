"""What is known of the interruptions of a plan, as a noun and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from advisor.core.units import HOUR_S, NBSP, duration, hours, number, percent
from advisor.domain import Interruptions

if TYPE_CHECKING:
    import pandas as pd

LOWER_BOUND: Final = "Nothing is known of its interruptions: hours and bill are lower bounds."


def interruptions_of(plan: pd.Series[Any]) -> Interruptions | None:
    """Return what is known of the interruptions of a row; None where there are none."""
    basis = str(plan["interruption_basis"])
    if not basis:
        return None
    if np.isnan(plan["untouched"]):
        return Interruptions(basis=basis)
    return Interruptions(
        expected=float(plan["revocations"]),
        none_probability=float(plan["untouched"]),
        added_h=float(plan["interruption_h"]),
        checkpoint_every_h=float(plan["interval_h"]),
        basis=basis,
    )


def chance_words(interruptions: Interruptions) -> str:
    r"""Return the chance to be interrupted in a few words.

    >>> chance_words(Interruptions(basis="no interruption data for this market"))
    'Interruptions not known'
    >>> known = {"expected": 0.1, "added_h": 0.5, "checkpoint_every_h": 0.3, "basis": "a band"}
    >>> chance_words(Interruptions(none_probability=0.9, **known))
    'Interrupted: 10\xa0%'
    """
    known = interruptions.known
    return f"Interrupted: {chance_of(interruptions)}" if known else "Interruptions not known"


def chance_of(interruptions: Interruptions | None) -> str:
    """Return the chance to be interrupted at least once, for a column of a table."""
    if interruptions is None:
        return "none"
    share = interruptions.none_probability
    return "not known" if share is None else percent(1 - share)


def sentences(interruptions: Interruptions) -> str:
    """Return what interruptions do to the job, and on which data that rests."""
    known = interruptions
    if known.expected is None or known.added_h is None or known.checkpoint_every_h is None:
        return f"{known.basis.capitalize()}: hours and bill are lower bounds."
    every = duration(known.checkpoint_every_h * HOUR_S)
    return (
        f"{number(known.expected, 2)} interruptions expected, none with a chance of "
        f"{percent(known.none_probability)}; a checkpoint every {every}. Checkpoints, work done "
        f"again and new starts add {hours(known.added_h)}{NBSP}h, contained in hours and bill. "
        f"Rests on: {known.basis}."
    )
