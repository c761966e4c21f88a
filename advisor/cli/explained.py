"""A prediction opened, for a terminal: factors, parts, and the runs behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table

from advisor.advice.explain import (
    SCALE_WORDS,
    differences_words,
    distance_sentence,
    factors_sentence,
)
from advisor.cli.text import plain
from advisor.core.units import NBSP, duration, number

if TYPE_CHECKING:
    from rich.console import Console

    from advisor.domain import Explanation

NEAREST: Final = ("nearest measured run", "accelerators", "batch", "precision", "measured",
                  "samples/s", "predicted", "distance", "differs in", "source")  # fmt: skip


def show_explanation(out: Console, explained: Explanation, title: str) -> None:
    """Print how the step comes about and which measured runs are nearest."""
    out.print(f"[bold]{title}[/bold]: {plain(factors_sentence(explained))}")
    _show_parts(out, explained)
    _show_own_runs(out, explained)
    out.print(plain(distance_sentence(explained)))
    table = Table(*NEAREST, box=None)
    for column in (2, 4, 5, 6, 7):
        table.columns[column].justify = "right"
    for run in explained.nearest:
        table.add_row(
            plain(run.model),
            plain(f"{run.accelerators:g} × {run.accelerator}"),
            f"{run.global_batch:,g}",
            plain(run.precision or "not stated"),
            duration(run.measured_s),
            number(run.samples_per_s),
            duration(run.predicted_s),
            f"{run.distance:.1f}, {run.nearness}",
            plain(differences_words(run)),
            plain(f"{run.source} {run.year or ''}".strip()),
        )
    out.print(table)
    out.print(f"[dim]{plain(SCALE_WORDS)}[/dim]")


def _show_parts(out: Console, explained: Explanation) -> None:
    parts, total = explained.parts, explained.step_s
    named = (
        ("compute", parts.compute_s),
        ("exposed communication", parts.exposed_communication_s),
        ("pipeline bubble", parts.bubble_s),
        ("overhead", parts.overhead_s),
    )
    said = ", ".join(f"{name} {duration(part)} ({100 * part / total:.0f}{NBSP}%)"
                     for name, part in named if part)  # fmt: skip
    out.print(f"The step is {said}.")


def _show_own_runs(out: Console, explained: Explanation) -> None:
    if not explained.own_runs:
        return
    table = Table("your run", "shares", "measured", "predicted without", "moves the step by",
                  box=None)  # fmt: skip
    for column in (2, 3, 4):
        table.columns[column].justify = "right"
    for share in explained.own_runs:
        run = share.run
        table.add_row(plain(run), share.likeness, duration(run.measured_s),
                      duration(run.predicted_s), f"× {number(share.factor)}")  # fmt: skip
    out.print(table)
    if abs(explained.software_factor - 1) > 1e-3:
        out.print(f"The software that they name moves it by × {number(explained.software_factor)}.")
