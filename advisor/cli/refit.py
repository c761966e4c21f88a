"""Refit the predictor on the store's own runs, in the terminal."""

from __future__ import annotations

import sys
from argparse import SUPPRESS
from typing import TYPE_CHECKING, Any

from advisor.advice.refit import refit, score_words
from advisor.advice.refit_worker import alone, give_way
from advisor.catalog import load
from advisor.cli.stored_tables import say
from advisor.core.paths import data_dir
from advisor.store import Store, seed

if TYPE_CHECKING:
    import argparse

    from advisor.advice.refits import Verdict


def add_commands(actions: Any) -> None:
    """Add ``refit`` to the parser's commands."""
    command = actions.add_parser(
        "refit", help="learn from the store's own runs; taken only if it predicts no worse"
    )
    command.set_defaults(run=run_refit)
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument("--background", action="store_true", help=SUPPRESS)


def run_refit(options: argparse.Namespace) -> int:
    """Refit, and say whether the new predictor is taken and why."""
    if options.background:
        give_way()
    directory = data_dir()
    quiet = options.json or options.background
    with alone(directory), Store.open() as store:
        seed(store)
        verdict = refit(
            store, load(), directory, insist=not options.background,
            say=(lambda _: None) if quiet else say,
        )  # fmt: skip
    if options.json:
        sys.stdout.write("null\n" if verdict is None else f"{verdict.model_dump_json(indent=2)}\n")
    else:
        _show(verdict)
    return 0


def _show(verdict: Verdict | None) -> None:
    if verdict is None:
        say("There is nothing to learn: the predictor in use knows all runs of the store.")
        return
    for skipped in verdict.skipped:
        say(f"Left aside: {skipped.run}: {skipped.why}.")
    word = "Taken" if verdict.taken else "Not taken"
    say(f"{word}: {verdict.why}. {verdict.new_runs:,} new of {verdict.own_runs:,} own runs, "
        f"{verdict.seconds:.0f} s.")  # fmt: skip
    for score in verdict.scores:
        say(f"{'✓' if score.holds else '✗'} {score_words(score)}, {score.runs:,} runs")
