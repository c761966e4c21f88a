"""Why a pick was chosen, for a terminal: the rival, what binds, what flips it, how sure it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from advisor.advice.choice_words import (
    binding_sentences,
    crossing_words,
    option_words,
    robust_sentence,
    sureness_sentence,
    swing_words,
)
from advisor.advice.tornado import range_words
from advisor.cli.text import plain
from advisor.core.units import percent, usd

if TYPE_CHECKING:
    from rich.console import Console

    from advisor.domain import Choice


def show_choice(out: Console, choice: Choice, title: str) -> None:
    """Print why a plan was chosen and what that hangs on."""
    out.print(f"[bold]{title}[/bold]: {plain(' '.join(choice.why))}")
    for said in (*binding_sentences(choice), sureness_sentence(choice), robust_sentence(choice)):
        if said:
            out.print(plain(said))
    _show_flips(out, choice)
    _show_swings(out, choice)
    _show_duels(out, choice)


def _show_flips(out: Console, choice: Choice) -> None:
    if not choice.flips:
        return
    table = Table("if", "now", "that is", "then cheapest", box=None)
    for flip in choice.flips:
        then = "no plan is left" if flip.then is None else option_words(flip.then)
        table.add_row(plain(flip.change), plain(flip.now.removeprefix("now ")), plain(flip.by),
                      plain(then))  # fmt: skip
    out.print(table)


def _show_swings(out: Console, choice: Choice) -> None:
    table = Table("assumption", "its 80 % range", "bill then", "against the rival", box=None)
    crossings = {one.assumption: crossing_words(one.crossing) for one in choice.break_evens}
    for swing in choice.swings:
        table.add_row(swing.assumption, plain(range_words(swing)), plain(swing_words(swing)),
                      plain(crossings.get(swing.assumption, "")))  # fmt: skip
    out.print(table)


def _show_duels(out: Console, choice: Choice) -> None:
    if not choice.duels:
        return
    table = Table("against", "USD", "costs less with a chance of", "expected loss of taking it",
                  box=None)  # fmt: skip
    for column in (1, 2, 3):
        table.columns[column].justify = "right"
    for duel in choice.duels:
        table.add_row(plain(option_words(duel.other)), usd(duel.other.cost_usd),
                      percent(duel.beats_probability), usd(duel.regret_usd))  # fmt: skip
    out.print(table)
