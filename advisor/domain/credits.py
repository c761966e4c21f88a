"""What credits of a cloud pay of a bill, and what is left to pay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field

from advisor.domain.base import Noun
from advisor.domain.estimate import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable


class Credits(Noun):
    """The share of a bill that credits pay; used and to pay sum to the bill."""

    available_usd: float = Field(gt=0, description="The user's credits of the cloud.")
    used_usd: Estimate
    to_pay_usd: Estimate

    @classmethod
    def of_bill(cls, bill: Estimate, available_usd: float) -> Self:
        """Return what `available_usd` of credits pay of a bill.

        Notes
        -----
        Both parts never fall as the bill grows, so a quantile of the bill becomes the same
        quantile of the part: the interval keeps its level, and the median stays the median.
        """
        return cls(
            available_usd=available_usd,
            used_usd=_through(bill, lambda usd: min(usd, available_usd)),
            to_pay_usd=_through(bill, lambda usd: max(usd - available_usd, 0.0)),
        )


def _through(estimate: Estimate, function: Callable[[float], float]) -> Estimate:
    """Return the estimate of a function that never falls."""
    bounds = {name: function(getattr(estimate, name)) for name in ("value", "low", "high")}
    return estimate.model_copy(update=bounds)
