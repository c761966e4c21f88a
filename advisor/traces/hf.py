"""What the summary of the Hugging Face Trainer means.

The trainer divides all samples and steps by the time of this session, so after a resume its rates
are too high; its run time includes evaluations; its steps per second have three decimals only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from advisor.traces.draft import Draft

# A rate of three decimals is known to better than 1 % from here on.
_RATE_FOR_1_PERCENT: Final = 0.05
_DISAGREE: Final = 1.2
_ONE_SAMPLE: Final = 1.05


@dataclass(frozen=True, kw_only=True, slots=True)
class HfSummary:
    """The last line of a training; None is unknown.

    ``first_step`` is the step from which this session resumed, ``eval_s`` the time of evaluations
    within the run time.
    """

    runtime_s: float | None
    samples_per_s: float | None
    steps_per_s: float | None
    last_step: float | None
    first_step: float = 0.0
    eval_s: float = 0.0


def apply_summary(draft: Draft, summary: HfSummary) -> None:
    """Set step time, throughput and batch."""
    runtime_s, last = summary.runtime_s, summary.last_step
    if runtime_s is None or runtime_s <= 0:
        draft.warn("The train_runtime of this file is no time; step time not available.")
        return
    draft.throughput, draft.throughput_unit = summary.samples_per_s, "samples/s"
    if last is None or last <= summary.first_step:
        draft.warn(
            "The number of steps is not in this file, and the steps per second are rounded to "
            "three decimals, so the step time is not available; add trainer_state.json."
        )
        return
    steps = last - summary.first_step
    draft.steps = int(steps)
    if summary.eval_s >= runtime_s:
        draft.warn(
            "The evaluations took longer than the run time of this session: the run was resumed, "
            "and which steps it took is not in the file. Step time not available."
        )
        return
    draft.step_time_s = (runtime_s - summary.eval_s) / steps
    _set_batch(draft, summary, runtime_s, last)
    if summary.first_step > 0:
        _correct_resumed(draft, last, steps)
    _warn_of_rates(draft, summary, steps / runtime_s)


def _set_batch(draft: Draft, summary: HfSummary, runtime_s: float, last: float) -> None:
    """Samples per step, as the trainer counted both: over the whole training."""
    if summary.samples_per_s is None:
        return
    batch = summary.samples_per_s * runtime_s / last
    if summary.steps_per_s is None and batch < _ONE_SAMPLE:
        draft.throughput = None
        draft.warn(
            "An old version of the trainer gave steps per second as samples per second; without "
            "the batch, the throughput is not available."
        )
    elif batch >= 1 / _ONE_SAMPLE:
        draft.global_batch = float(round(batch))


def _warn_of_rates(draft: Draft, summary: HfSummary, steps_per_s: float) -> None:
    if summary.eval_s > 0:
        draft.warn(
            f"The run time includes {summary.eval_s:,.0f} s of evaluations; the step time does "
            "not, the throughput does."
        )
    said = summary.steps_per_s or 0.0
    if said > _RATE_FOR_1_PERCENT and not 1 / _DISAGREE < said / steps_per_s < _DISAGREE:
        draft.warn(
            f"The file says {said:g} steps/s, but its steps and run time give {steps_per_s:.4g}; "
            "the step time follows the latter."
        )


def _correct_resumed(draft: Draft, last: float, steps: float) -> None:
    if draft.throughput is not None:
        draft.throughput *= steps / last
    draft.warn(
        f"The run was resumed: {steps:,.0f} of {last:,.0f} steps ran in this session, and only "
        "these count."
    )
