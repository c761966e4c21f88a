"""What is known of the interruptions of a plan's spot machines."""

from __future__ import annotations

from pydantic import Field

from advisor.domain.base import Noun


class Interruptions(Noun):
    """How often a job on spot machines is interrupted, and what that costs it.

    All None where nothing is known of the market: hours and bill of the plan are then bounds from
    below, and ``basis`` says so.
    """

    expected: float | None = Field(default=None, ge=0, description="Interruptions of the job.")
    none_probability: float | None = Field(default=None, ge=0, le=1)
    added_h: float | None = Field(
        default=None, ge=0, description="Expected: checkpoints, work done again, new starts."
    )
    checkpoint_every_h: float | None = Field(
        default=None, gt=0, description="Work between checkpoints (Young's rule)."
    )
    basis: str = Field(min_length=1, description="On which data it rests.")

    @property
    def known(self) -> bool:
        """Whether anything is known of them."""
        return self.expected is not None
