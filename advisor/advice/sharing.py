"""A plan handed on: as a file of another tool or as a report, from whatever holds the plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args

from advisor import catalog as catalogs
from advisor.advice.exporter import export, launch_of
from advisor.advice.launch import DEFAULT_COMMAND
from advisor.advice.proposal_files import read_proposal
from advisor.advice.proposals import DEFAULT_PICK, propose, today
from advisor.advice.quoting import words_of
from advisor.advice.reports import html_of, pdf_of, report_of
from advisor.core.errors import InvalidInputError
from advisor.domain import Advice, Proposal

if TYPE_CHECKING:
    import datetime as dt

    from advisor.advice.exporter import Exported
    from advisor.catalog import Catalog

    Source = Proposal | Advice | str | Path


Format = Literal["html", "pdf"]
FORMATS: Final = get_args(Format)


def proposal_in(source: Source, pick: str | None = None) -> Proposal:
    """Return the plan that is meant: itself, a pick of advice, or what a file holds.

    Raises
    ------
    InvalidInputError
        If the file holds no plan, the advice has no such pick, or a pick is named of one plan.
    """
    if isinstance(source, Advice):
        return propose(source, pick or DEFAULT_PICK)
    if isinstance(source, Proposal):
        if pick is not None:
            raise InvalidInputError(
                "this is one plan, not the picks of advice.", where="pick", todo="Leave it out."
            )
        return source
    return read_proposal(Path(source), pick)


def export_plan(
    source: Source,
    to: str,
    *,
    pick: str | None = None,
    command: str = " ".join(DEFAULT_COMMAND),
    catalog: Catalog | None = None,
) -> Exported:
    """Write a plan as a file of another tool.

    Parameters
    ----------
    source : Proposal, Advice or path
        The plan; of advice, the cheapest or `pick`.
    to : str
        ``skypilot``, ``dstack``, ``slurm``, ``jobset``, ``terraform``, ``aws_cli``,
        ``deepspeed``, ``megatron``, ``fsdp``, ``accelerate``, ``csv`` or ``json``.
    pick : str, optional
        ``cheapest``, ``fastest``, ``best_value`` or ``safest``.
    command : str
        Your training script and its arguments.

    Returns
    -------
    Exported
        ``text``, ``file_name``, and in ``use`` how the tool takes the file.

    Raises
    ------
    InvalidInputError
        If the tool cannot run the plan, and why; or what is given cannot be used.
    """
    proposal = proposal_in(source, pick)
    return export(to, launch_of(proposal, catalog or catalogs.load(), words_of(command)))


def write_report(
    source: Source,
    format: Format = "html",  # noqa: A002 - what it is called
    *,
    pick: str | None = None,
    made_on: dt.date | None = None,
) -> bytes:
    """Write one page for the one who pays: job, choice, cost and time, assumptions, runner-up.

    Parameters
    ----------
    source : Proposal, Advice or path
        The plan; of advice, the cheapest or `pick`.
    format : {"html", "pdf"}
        HTML needs no other file; PDF is one page of A4.
    made_on : date, optional
        The date on the report; today's by default.

    Returns
    -------
    bytes
        The file.

    Raises
    ------
    InvalidInputError
        If the file holds no plan, or the format is none of the two.
    """
    if format not in FORMATS:
        raise InvalidInputError(
            f"a report cannot be written as “{format}”.", where="report", todo="Give html or pdf."
        )
    report = report_of(proposal_in(source, pick), made_on or today())
    return pdf_of(report) if format == "pdf" else html_of(report).encode()
