"""What holds a traced run up, and what its trace suggests of the job, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.advice.diagnosis import diagnose
from advisor.cli.tables import console
from advisor.cli.text import plain
from advisor.traces.guesses import Guess, guess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.traces import Result, Trace


def show_findings(results: Sequence[Result]) -> None:
    """Print for each run what it shows of its speed with what would help, then the guesses."""
    out = console()
    for result in results:
        if result.trace is None:
            continue
        said = [*_found(result.trace), *_guessed(result.trace)]
        if said and len(results) > 1:
            out.print(f"[bold]{plain(result.name)}[/bold]", soft_wrap=True)
        for line in said:
            out.print(line, soft_wrap=True)


def _found(trace: Trace) -> list[str]:
    lines = []
    for finding in diagnose(trace):
        lines.append(f"{finding.severity}: {plain(finding.sentence)}")
        if finding.help:
            lines.append(f"  {plain(finding.help)}")
    return lines


def _guessed(trace: Trace) -> list[str]:
    lines = []
    for name, found in guess(trace):
        if isinstance(found, Guess):
            field = name.replace("_", " ").replace("gpu", "GPU")
            why = " ".join(found.evidence)
            value = f"{found.value:,g}" if isinstance(found.value, float) else found.value
            lines.append(
                f"[dim]guess, {found.confidence} confidence: {field} {plain(value)}. "
                f"{plain(why)}[/dim]"
            )
    return lines
