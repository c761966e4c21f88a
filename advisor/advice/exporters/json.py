"""The plan with everything that is known of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from advisor.advice.exporter import EXPORTERS, Language

if TYPE_CHECKING:
    from advisor.advice.launch import Launch


@EXPORTERS.register("json")
class Json:
    """The plan and its job as JSON, for programs of your own."""

    label: ClassVar[str] = "JSON"
    use: ClassVar[str] = "python -m json.tool {file}"
    suffix: ClassVar[str] = "json"
    language: ClassVar[Language] = "json"

    def refusal(self, launch: Launch) -> str:  # noqa: ARG002 - any plan has fields
        """Return nothing."""
        return ""

    def write(self, launch: Launch) -> str:
        """Return the plan with its id and the job."""
        plan, workload = (json.loads(noun.to_json()) for noun in (launch.plan, launch.workload))
        whole = {"plan_id": launch.plan.id, "plan": plan, "workload": workload}
        return json.dumps(whole, indent=1, allow_nan=False) + "\n"
