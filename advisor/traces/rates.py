"""Throughput from batch and step time; what the file says of it is only compared.

Logged rates often leave out gradient accumulation, or count the steps between two lines as one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from advisor.traces.draft import Draft

_DISAGREE: Final = 1.2


def set_throughput(
    draft: Draft, per_step: float | None, unit: str, logged: float | None = None, by: str = ""
) -> None:
    """Set the throughput of a draft.

    Parameters
    ----------
    draft : Draft
        With its step time, if known.
    per_step : float or None
        Samples (or tokens) of all devices in one step.
    unit : str
        Unit of the throughput.
    logged : float, optional
        Throughput that the file gives.
    by : str
        What gives it, for the warning.
    """
    draft.throughput_unit = unit
    if per_step is None or draft.step_time_s is None:
        draft.throughput = logged
        if logged is not None:
            draft.warn(f"The throughput is what {by} says; there is nothing to check it by.")
        return
    draft.throughput = per_step / draft.step_time_s
    if logged and not 1 / _DISAGREE < logged / draft.throughput < _DISAGREE:
        draft.warn(
            f"Throughput: {by} says {logged:,.4g} {unit}, but batch and step time give "
            f"{draft.throughput:,.4g}, which counts; some versions leave out gradient accumulation "
            "or the steps between two lines."
        )
