"""The plan as a row of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from advisor.advice.exporter import EXPORTERS, Language
from advisor.advice.exports import plans_csv

if TYPE_CHECKING:
    from advisor.advice.launch import Launch


@EXPORTERS.register("csv")
class Csv:
    """One row with the columns of the whole front's table."""

    label: ClassVar[str] = "CSV"
    use: ClassVar[str] = "open {file} in a spreadsheet"
    suffix: ClassVar[str] = "csv"
    language: ClassVar[Language] = "csv"

    def refusal(self, launch: Launch) -> str:  # noqa: ARG002 - any plan is a row
        """Return nothing."""
        return ""

    def write(self, launch: Launch) -> str:
        """Return header and row."""
        return plans_csv([(launch.plan, "")])
