"""What the user's own runs change about a prediction."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from advisor.domain.base import Noun
from advisor.domain.estimate import Estimate

Likeness = Literal[
    "same job",  # workload, accelerator, their number, batch, sample size and precision
    "same model and accelerator",  # and sample size and precision
    "same model",
    "same accelerator",
    "same software",
    "nothing shared",
]


class OwnRun(Noun):
    """A run of the user that predictions are calibrated by."""

    model: str
    accelerator: str
    accelerators: float = Field(gt=0)
    global_batch: float = Field(gt=0)
    measured_s: float = Field(gt=0, description="One step.")
    predicted_s: float = Field(gt=0, description="The same step without the user's runs.")
    source: str = ""

    def __str__(self) -> str:
        return f"{self.model} on {self.accelerators:g} × {self.accelerator}"


class UnusedRun(Noun):
    """A run of the user that says nothing, and why."""

    name: str
    reason: str = Field(min_length=1)


class OwnRuns(Noun):
    """The runs of the user behind an answer."""

    used: tuple[OwnRun, ...]
    unused: tuple[UnusedRun, ...]


class Calibrated(Noun):
    """One prediction before the user's own runs; the prediction itself is the one after.

    ``runs`` counts the runs that share most with it, in the way that ``likeness`` says.
    """

    step_time_before_s: Estimate
    hours_before: Estimate
    factor: float = Field(gt=0, description="Step time after ÷ before.")
    runs: int = Field(ge=1)
    likeness: Likeness
