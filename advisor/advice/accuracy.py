"""What more asynchronous workers cost in accuracy, in words."""

from __future__ import annotations

from advisor.core.units import number
from advisor.transient.accuracy import GPU, SETTING, accuracy_near


def accuracy_caveat(workers: int, samples_factor: float) -> str:
    """Return what was measured of the accuracy, and what is priced for it; "" for one worker.

    >>> accuracy_caveat(1, 1.0)
    ''
    """
    if workers == 1:
        return ""
    alone, near = accuracy_near(workers)
    priced = (
        "nothing is priced for it: set the samples to target"
        if samples_factor == 1
        else f"{number(samples_factor)} times the samples are priced"
    )
    return (
        f"Asynchronous workers cost accuracy: top-1 fell from {alone.top1:.1%} with one {GPU} "
        f"(n = {alone.n}) to {near.top1:.1%} with {near.workers} (n = {near.n}; {SETTING}); "
        f"{priced}."
    ).replace("%", " %")
