"""Two plans beside each other: everything that is not the same, by what it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from advisor.advice.reports import words
from advisor.core.units import usd
from advisor.domain.difference import Cause, Change

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from advisor.domain import Plan, Proposal

# Two numbers of which neither is rounded are the same within the last digits of a float.
SAME: Final = 1e-9


def changes(before: Proposal, after: Proposal) -> tuple[Change, ...]:
    """Return what changed: the job, the limits, prices, the predictor, the plan itself."""
    pairs: tuple[tuple[Cause, Mapping[str, Any], Mapping[str, Any]], ...] = (
        ("job", _flat(before.workload.to_dict()), _flat(after.workload.to_dict())),
        ("limits", _limits(before), _limits(after)),
        ("prices", _prices(before), _prices(after)),
        ("predictor", _predictor(before), _predictor(after)),
        ("plan", _plan(before.plan), _plan(after.plan)),
    )
    return tuple(change for cause, a, b in pairs for change in _differences(cause, a, b))


def _differences(cause: Cause, a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys([*a, *b]):
        old, new = a.get(name), b.get(name)
        if not _same(old, new):
            yield Change(cause=cause, name=name, before=_said(old), after=_said(new))


def _same(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= SAME * max(abs(a), abs(b))
    return a == b


def _said(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(_said(one) for one in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}"
    return str(value)


def _flat(fields: Mapping[str, Any], start: str = "") -> dict[str, Any]:
    """Return nested fields by names with dots: a difference names the field that it is in."""
    found: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{start}{name}.")
        else:
            found[f"{start}{name}".replace("_", " ")] = value
    return found


def _limits(proposal: Proposal) -> dict[str, Any]:
    if not proposal.limits:
        return {}
    return _flat(proposal.limits) | _flat(proposal.options)


def _prices(proposal: Proposal) -> dict[str, Any]:
    offer = proposal.plan.offer
    name = f"{offer.instance_type}, {offer.region}, {offer.market.replace('_', ' ')}"
    return {
        "catalog": proposal.plan.catalog_hash[: words.HASH_LETTERS],
        name: f"{usd(offer.usd_per_h)}/h, {offer.dated}",
    }


def _predictor(proposal: Proposal) -> dict[str, Any]:
    plan = proposal.plan
    runs = None if plan.calibrated is None else plan.calibrated.runs
    return {
        "advisor": plan.advisor_version,
        "measured runs": plan.data_hash[: words.HASH_LETTERS],
        "own runs": runs,
    }


def _plan(plan: Plan) -> dict[str, Any]:
    return {
        "machines": str(plan.cluster),
        "where": words.place(plan),
        "layout": str(plan.layout),
        "hours": " ".join(words.time(plan.hours)),
        "bill": " ".join(words.money(plan.cost_usd)),
    }
