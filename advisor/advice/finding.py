"""What a trace shows about the speed of a run, and from which share of a step on it matters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from advisor.domain import Estimate
from advisor.domain.base import Noun

if TYPE_CHECKING:
    from advisor.traces.trace import Trace

Severity = Literal["high", "medium", "info"]
ORDER: Final = ("high", "medium", "info")

MATTERS: Final = 0.1
HIGH: Final = 0.3


class Finding(Noun):
    """Something that a trace shows about the speed of a run.

    Attributes
    ----------
    kind : str
        Short name of the rule.
    severity : {"high", "medium", "info"}
        How much it matters; info is good to know and costs nothing.
    sentence : str
        What is the case, with its numbers.
    evidence : tuple of str
        The fields of the trace behind it.
    help : str
        What would help; empty where nothing has to be done.
    step_time_after_s : float or None
        Step time if that succeeds [s], an estimate from the parts of the trace.
    predicted : Estimate or None
        Step time of the same samples after what would help [s], by the predictor calibrated with
        this run; None where it was not asked or cannot tell.
    """

    kind: str = Field(min_length=1)
    severity: Severity
    sentence: str = Field(min_length=1)
    evidence: tuple[str, ...] = ()
    help: str = ""
    step_time_after_s: float | None = Field(default=None, gt=0)
    predicted: Estimate | None = None


def severity_of(share: float) -> Severity:
    """Return how much a share of a step matters."""
    return "high" if share >= HIGH else "medium"


def idle_share(trace: Trace) -> float | None:
    """Return the share of a usual step in which the device has nothing to do.

    The window of a trace holds unusual steps as well, and where the host runs ahead less device
    work than its steps launched: of both views the one counts that blames less.
    """
    parts, step_s, steps = trace.parts, trace.step_time_s, trace.steps
    if parts is None:
        return None
    of_window = parts.idle_s / parts.window_s
    if step_s is None or not steps:
        return of_window
    busy_s = (parts.window_s - parts.idle_s) / steps
    return min(of_window, max(1 - busy_s / step_s, 0.0))
