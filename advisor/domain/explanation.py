"""A predicted step taken apart: factors, parts, and the measured runs it rests on."""

from __future__ import annotations

import math
from typing import Literal, Self

from pydantic import Field, model_validator

from advisor.domain.base import Noun
from advisor.domain.calibration import Likeness, OwnRun
from advisor.domain.plan import StepParts

Nearness = Literal["as good as measured", "very near", "near", "far", "very far"]
Difference = Literal["model", "accelerator", "accelerators", "precision", "sample_size",
                     "global_batch"]  # fmt: skip


class NearRun(Noun):
    """A measured run near to a prediction; the predictor has learnt from it."""

    source: str
    url: str = ""
    year: int | None = None
    model: str
    accelerator: str
    accelerators: float = Field(gt=0)
    framework: str = ""
    precision: str = Field(default="", description="Empty where the source does not say.")
    parallelism: str = ""
    global_batch: float = Field(gt=0)
    sample_size: float | None = None
    measured_s: float = Field(gt=0, description="One step.")
    predicted_s: float = Field(gt=0, description="The same step as predicted.")
    distance: float = Field(ge=0, description="In units of the usual gap between measured runs.")
    nearness: Nearness
    differs: tuple[Difference, ...] = Field(description="What of it is not as asked.")

    @property
    def samples_per_s(self) -> float:
        """Measured throughput."""
        return self.global_batch / self.measured_s


class OwnShare(Noun):
    """What one run of the user moves a prediction by."""

    run: OwnRun
    likeness: Likeness
    factor: float = Field(gt=0, description="By which this run lengthens the step.")


class Explanation(Noun):
    """``physics_s`` × ``learned_factor`` × ``own_factor`` is the step, and so is its parts' sum.

    ``own_factor`` is ``software_factor`` times the factors of all own runs.
    """

    physics_s: float = Field(gt=0, description="The step by physics alone.")
    learned_factor: float = Field(gt=0, description="Learned from measured runs.")
    own_factor: float = Field(default=1.0, gt=0, description="Of the user's runs; 1 without any.")
    software_factor: float = Field(default=1.0, gt=0, description="Of the software they name.")
    step_s: float = Field(gt=0)
    parts: StepParts
    distance: float = Field(ge=0, description="To the nearest measured run, in usual gaps.")
    nearness: Nearness
    kept_share: float = Field(
        ge=0, le=1, description="Share of the learned correction that this distance leaves."
    )
    nearest: tuple[NearRun, ...]
    own_runs: tuple[OwnShare, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        product = self.physics_s * self.learned_factor * self.own_factor
        shares = self.software_factor * math.prod(share.factor for share in self.own_runs)
        for name, value, whole in (
            ("factors", product, self.step_s),
            ("parts", self.parts.total_s, self.step_s),
            ("factors of own runs", shares, self.own_factor),
        ):
            if not math.isclose(value, whole, rel_tol=1e-6):
                raise ValueError(f"the {name} do not give the whole")
        return self
