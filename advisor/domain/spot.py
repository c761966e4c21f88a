"""A plan on spot machines under every policy, and a job that runs on them."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from advisor.domain.base import Noun
from advisor.domain.estimate import Estimate


class LifetimeData(Noun):
    """On which data the lifetime of the machines rests; `n` 0: not counted."""

    kind: Literal["place", "accelerator", "band", "history", "given"]
    accelerator: str
    region: str
    n: int = Field(ge=0)
    year: int = Field(ge=0)
    source: str
    words: str = Field(min_length=1)


class PolicyOutcome(Noun):
    """What comes of a policy; all estimates are None where it does not apply, with the reason."""

    policy: str
    label: str
    paper: str
    reason: str = Field(default="", description="Why it does not apply.")
    checkpoint_every_h: float | None = Field(default=None, gt=0)
    hours: Estimate | None = None
    cost_usd: Estimate | None = None
    p90_usd: float | None = Field(default=None, ge=0)
    deadline_probability: float | None = Field(default=None, ge=0, le=1)
    budget_probability: float | None = Field(default=None, ge=0, le=1)
    interruptions: float | None = Field(default=None, ge=0)
    wasted_share: float | None = Field(default=None, le=1)
    saving_share: float | None = Field(default=None, description="Against on demand, expected.")
    saving_share_low: float | None = None
    saving_share_high: float | None = None
    caveat: str = ""


class MoreMachines(Noun):
    """The same type with another number of machines, in the same market."""

    machines: int = Field(ge=1)
    hours: float = Field(gt=0)
    cost_usd: float = Field(ge=0)
    deadline_probability: float | None = Field(default=None, ge=0, le=1)
    hours_90: tuple[float, float] | None = Field(
        default=None, description="90 % interval [h]; None where only a bound is known."
    )
    cost_90_usd: tuple[float, float] | None = None
    bound: bool = Field(description="Hours and cost are lower bounds, the chance an upper one.")


class SpotAdvice(Noun):
    """A plan on spot machines: policies cheapest first, on which data, with more machines."""

    only_if_any: ClassVar[tuple[str, ...]] = ("caveats",)

    machines: str
    region: str
    usd_per_h: float = Field(gt=0, description="Of one spot machine.")
    on_demand_usd_per_h: float | None = Field(default=None, gt=0)
    data: LifetimeData | None = Field(default=None, description="None: nothing is known.")
    least_h: float = Field(gt=0, description="Without any interruption.")
    least_usd: float = Field(ge=0)
    policies: tuple[PolicyOutcome, ...] = ()
    best: str = Field(default="", description="Cheapest that is sure enough of the deadline.")
    best_interval_h: float | None = Field(
        default=None, gt=0, description="Optimal work between checkpoints of a restart."
    )
    other_counts: tuple[MoreMachines, ...] = ()
    caveats: tuple[str, ...] = ()


class SlowJob(Noun):
    """Why a running job is slow, and what helps."""

    ratio: float = Field(gt=0, description="Its step in the predicted one.")
    cause: Literal["revocation", "straggler", "server_saturated", "not_told"]
    cause_words: str
    advice: tuple[str, ...]
    gain: float | None = Field(default=None, gt=0, description="Speed with it, in that of now.")


class RunningForecast(Noun):
    """What is left of a running job, read from its log."""

    steps_done: int = Field(ge=0)
    steps: int = Field(ge=1)
    elapsed_h: float = Field(ge=0)
    restarts: int = Field(ge=0)
    step_time_s: Estimate = Field(description="Of now, out of the log.")
    predicted_step_s: Estimate | None = Field(default=None, description="None without a job.")
    remaining_h: Estimate
    remaining_usd: Estimate
    deadline_left_h: float | None = None
    deadline_probability: float | None = Field(default=None, ge=0, le=1)
    bound: bool = Field(description="Nothing is known of interruptions: chance is an upper bound.")
    fall_back_probability: float | None = Field(default=None, ge=0, le=1)
    fall_back_usd: float | None = Field(default=None, ge=0)
    on_demand_probability: float | None = Field(default=None, ge=0, le=1)
    on_demand_usd: float | None = Field(default=None, ge=0)
    switch_by_h: float | None = Field(default=None, description="From now; negative: past.")
    advice: str = Field(min_length=1)
    data: LifetimeData | None = None
    slow: SlowJob | None = None
