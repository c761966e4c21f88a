"""The plan with everything that is known of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from advisor.advice.exporter import EXPORTERS, Language

if TYPE_CHECKING:
    from advisor.advice.launch import Launch


@EXPORTERS.register("json")
class Json:
    """The plan, its job and its limits as JSON: for programs, a report, a later comparison."""

    label: ClassVar[str] = "JSON"
    use: ClassVar[str] = "python -m advisor report {file} -o report.pdf"
    suffix: ClassVar[str] = "json"
    language: ClassVar[Language] = "json"

    def refusal(self, launch: Launch) -> str:  # noqa: ARG002 - any plan has fields
        """Return nothing."""
        return ""

    def write(self, launch: Launch) -> str:
        """Return the proposal."""
        return json.dumps(json.loads(launch.proposal.to_json()), indent=1) + "\n"
