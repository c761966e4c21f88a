"""The user's own terms in words: discounts and credits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.units import interval, number, usd
from advisor.domain import Credits

if TYPE_CHECKING:
    from advisor.advice.engine import Engine
    from advisor.domain import Estimate, Offer, Plan


def credits_of(engine: Engine, cloud: str, bill: Estimate) -> Credits | None:
    """Return what the user's credits of a cloud pay of a bill, None where there are none."""
    available = engine.catalog.credits_usd.get(cloud)
    return None if available is None else Credits.of_bill(bill, available)


def sentences(plan: Plan) -> tuple[str, ...]:
    """Return what the user's terms change of a plan, one sentence each; nothing without any."""
    said = (_discount(plan.offer), _credits(plan), _block(plan), _carbon(plan))
    return tuple(sentence for sentence in said if sentence)


def _discount(offer: Offer) -> str:
    if offer.list_usd_per_h is None:
        return ""
    return (
        f"Price with {offer.label}: {usd(offer.usd_per_h)}/h, list {usd(offer.list_usd_per_h)}/h."
    )


def _credits(plan: Plan) -> str:
    if plan.credits is None:
        return ""
    credits_ = f"{usd(plan.credits.available_usd)} of {plan.offer.cloud} credits"
    pay = plan.credits.to_pay_usd
    if pay.high == 0:
        return f"Your {credits_} pay all of it."
    ends = interval(number(pay.low), number(pay.high))
    return f"After your {credits_}: {usd(pay.value)} to pay (90 % {ends})."


def _block(plan: Plan) -> str:
    if plan.offer.market != "capacity_block":
        return ""
    return "Your capacity block: all of it is paid, and the job ends within it."


def _carbon(plan: Plan) -> str:
    if plan.carbon_kg is None:
        return ""
    kg = plan.carbon_kg
    ends = interval(number(kg.low), number(kg.high))
    return f"{number(kg.value)} kg CO2e by your table of grids (90 % {ends}), accelerators alone."
