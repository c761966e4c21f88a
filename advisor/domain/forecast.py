"""What a job takes on given hardware, without a price."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from advisor.domain.base import Noun
from advisor.domain.calibration import Calibrated, OwnRuns
from advisor.domain.estimate import Estimate
from advisor.domain.explanation import Explanation
from advisor.domain.layout import Layout
from advisor.domain.plan import MemoryUse, StepParts


class Forecast(Noun):
    """Step time, hours and memory of a job on so many accelerators of one kind."""

    only_if_any: ClassVar[tuple[str, ...]] = ("own_runs", "caveats", "explanation")

    accelerator: str
    accelerators: float = Field(gt=0)
    machines: int = Field(ge=1)
    instance_type: str = Field(default="", description="Empty for a machine assumed, not chosen.")
    assumptions: tuple[str, ...] = ()
    caveats: tuple[str, ...] = Field(default=(), description="What the prediction leaves out.")
    layout: Layout
    steps: int = Field(ge=1)
    step_time_s: Estimate
    hours: Estimate = Field(description="Training alone: no start-up, no failures.")
    accelerator_hours: Estimate
    parts: StepParts
    memory: MemoryUse
    mfu: float = Field(ge=0, le=1, description="Model FLOPs utilisation of the dense peak.")
    calibrated: Calibrated | None = Field(default=None, description="None without own runs.")
    own_runs: OwnRuns | None = Field(default=None, description="None where none were given.")
    explanation: Explanation | None = Field(
        default=None, description="None where it was not asked."
    )
