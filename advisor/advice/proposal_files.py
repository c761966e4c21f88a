"""Reading a plan from what the advisor wrote: a proposal, advice, or a saved plan as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, TypeVar

from advisor.advice.picks import PICKS
from advisor.advice.proposals import DEFAULT_PICK, propose
from advisor.core.errors import InvalidInputError
from advisor.domain import Advice, Plan, Proposal, Workload
from advisor.domain.base import Noun

N = TypeVar("N", bound=Noun)
LARGEST_BYTES: Final = 64 * 2**20
HOW: Final = (
    "Give the JSON of a plan's page, of “advise --json”, of “plans show ID --json” or of “export "
    "--to json”."
)


def read_proposal(path: Path, pick: str | None = None) -> Proposal:
    """Read a plan from a file; of advice, a pick.

    Raises
    ------
    InvalidInputError
        If there is no such file, it holds no plan with its job, or a pick is named of a file that
        holds one plan.
    """
    where = str(path)
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise InvalidInputError(
                f"the file is larger than {LARGEST_BYTES // 2**20} MiB.", where=where, todo=HOW
            )
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(
            f"the file cannot be read ({error.strerror}).", where=where, todo=HOW
        ) from None
    except ValueError:
        raise InvalidInputError("this is not text.", where=where, todo=HOW) from None
    return proposal_of_text(text, pick, where)


def proposal_of_text(text: str, pick: str | None = None, where: str = "plan") -> Proposal:
    """Return the plan that a JSON text holds; errors as of `read_proposal`."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"this is not JSON ({error}).", where=where, todo=HOW) from None
    if not isinstance(fields, dict):
        raise InvalidInputError("this holds no plan.", where=where, todo=HOW)
    try:
        return _proposal(fields, pick, where)
    except InvalidInputError as error:
        if error.where.startswith(where):
            raise
        raise InvalidInputError(
            error.what, where=f"{where}, {error.where}", todo=error.todo or HOW
        ) from None


def _proposal(fields: dict[str, Any], pick: str | None, where: str) -> Proposal:
    if "picks" in fields:
        return propose(_noun(Advice, fields), pick or DEFAULT_PICK)
    if "plan" not in fields or "workload" not in fields:
        kind = fields.get("kind")
        what = "this holds no plan."
        if kind == Plan.__name__ or {"cluster", "layout"} <= set(fields):
            what = "this holds a plan without its job."
        raise InvalidInputError(what, where=where, todo=HOW)
    if pick is not None:
        raise InvalidInputError(
            "the file holds one plan, not the picks of advice.", where=where,
            todo=f"Leave --pick out, or give the advice with {', '.join(PICKS)}.",
        )  # fmt: skip
    if fields.get("kind") == Proposal.__name__:
        return _noun(Proposal, fields)
    plan, workload = _noun(Plan, fields["plan"]), _noun(Workload, fields["workload"])
    job = fields.get("job")
    return Proposal(
        plan_id=plan.id, plan=plan, workload=workload, job=job if isinstance(job, str) else ""
    )


def _noun(kind: type[N], fields: object) -> N:
    """Return a noun from its fields, with or without what it is and its version."""
    if not isinstance(fields, dict):
        raise InvalidInputError("expected a JSON object.", where=kind.__name__)
    head = {"kind": kind.__name__, "version": kind.json_version}
    return kind.from_json(json.dumps(head | fields))
