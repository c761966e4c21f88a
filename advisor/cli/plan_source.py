"""Commands on one plan: of a file, of the store, or of a job that is asked now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from advisor.advice import Engine
from advisor.advice.job import AMOUNTS
from advisor.advice.picks import PICKS
from advisor.advice.proposal_files import proposal_of_text, read_proposal
from advisor.advice.proposals import DEFAULT_PICK, propose, today
from advisor.cli.options import keep_runs, limits_of, question_of, search_options_of
from advisor.cli.stored import found_plan
from advisor.core.errors import InvalidInputError
from advisor.store import Store

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from advisor.catalog import Catalog
    from advisor.domain import Proposal

HOW: Final = (
    "Give a file (of “advise --json”, of a plan's page), the id of a saved plan, or a job: "
    "--model … --tokens …"
)


def add_source(
    command: argparse.ArgumentParser, add_question: Callable[[argparse.ArgumentParser], None]
) -> None:
    """Add the ways to say which plan is meant."""
    command.add_argument("plan", metavar="PLAN", nargs="?",
                         help="JSON of a plan or of advice, or the id of a saved plan; left out "
                         "where a job is given")  # fmt: skip
    command.add_argument("--pick", choices=PICKS,
                         help=f"which plan of advice (default {DEFAULT_PICK})")  # fmt: skip
    add_question(command)


def proposal_of(options: argparse.Namespace, catalog: Catalog) -> Proposal:
    """Return the plan that the options name.

    Raises
    ------
    AdvisorError
        If nothing or two things are named, the file holds no plan, or the job has none.
    """
    asked = options.model is not None or any(getattr(options, name) for name in AMOUNTS)
    if (options.plan is None) != asked:
        what = "both a plan and a job are given." if asked else "no plan is given."
        raise InvalidInputError(what, where="PLAN", todo=HOW)
    return _asked(options, catalog) if asked else find_proposal(options.plan, options.pick)


def find_proposal(given: str, pick: str | None = None) -> Proposal:
    """Return the plan of a file, or the saved plan with this id or its only beginning.

    Raises
    ------
    InvalidInputError
        If there is no such file and no such plan.
    """
    path = Path(given)
    if path.exists() or path.suffix or len(path.parts) > 1:
        return read_proposal(path, pick)
    with Store.open() as store:
        saved = found_plan(store, given)
    text = f'{{"plan": {saved.plan_json}, "workload": {saved.workload_json}}}'
    found = proposal_of_text(text, pick, f"saved plan {saved.id}")
    return found.model_copy(update={"job": saved.job, "made_on": saved.created_at.date()})


def _asked(options: argparse.Namespace, catalog: Catalog) -> Proposal:
    if not any(getattr(options, name) for name in AMOUNTS):
        raise InvalidInputError(
            "the amount of training is not given.", where="job", todo="Give --tokens 10e9."
        )
    question = question_of(options, catalog, None)
    search, limits = search_options_of(options, catalog), limits_of(options, catalog)
    engine = Engine.open(catalog)
    keep_runs(options, question, engine)
    advice = question.advice(engine, options=search, limits=limits)
    proposal = propose(advice, options.pick or DEFAULT_PICK, made_on=today())
    return proposal.model_copy(update={"job": question.job.line()})
