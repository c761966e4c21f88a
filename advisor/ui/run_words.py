"""What a file says of a run, in the words of the page; what it does not say is not told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from advisor.advice.exports import safe_cell
from advisor.advice.trace_runs import samples_of
from advisor.core.units import NBSP, data_size, duration, number, round_significant
from advisor.traces import READERS
from advisor.ui.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.store import AddResult
    from advisor.traces import Trace
    from advisor.traces.guesses import Guess, Guesses

NOT_TOLD = "not told"


def format_name(trace: Trace) -> str:
    """Return what people call the format of a file."""
    known = trace.format in set(READERS)
    return READERS[trace.format].label if known else trace.format.replace("_", " ")


def told(trace: Trace) -> dict[str, str]:
    """Return what a file tells of a run, by title, each with its unit or as `NOT_TOLD`."""
    rate, memory, batch = trace.throughput, trace.peak_memory_bytes, trace.global_batch
    tokens = batch is not None and samples_of(trace, None) is None
    return {
        "Model": trace.model or NOT_TOLD,
        "Accelerators": accelerators(trace),
        "Step time": NOT_TOLD if trace.step_time_s is None else duration(trace.step_time_s),
        "Busy": _share(trace.gpu_busy_share),
        "Communication": _communication(trace),
        "Peak memory": NOT_TOLD if memory is None else data_size(memory),
        "Global batch": NOT_TOLD if batch is None else f"{batch:,.0f}{' tokens' * tokens}",
        "Throughput": NOT_TOLD if rate is None else f"{number(rate)} {trace.throughput_unit or ''}",
        "Precision": trace.precision or NOT_TOLD,
    }


def accelerators(trace: Trace) -> str:
    """Return number and name of the accelerators as far as they are told."""
    if trace.gpus == 0:
        return "none, processors only"
    if trace.gpus is None:
        return trace.gpu_name or trace.instance_type or NOT_TOLD
    return f"{trace.gpus:,} × {trace.gpu_name or 'kind not told'}"


def guessed(guesses: Guesses) -> dict[str, Guess[str] | Guess[float] | Guess[int]]:
    """Return the guesses of what a file does not tell, by the title of what they are of."""
    found = {
        "Model": guesses.model,
        "Accelerators": guesses.gpu_name,
        "Global batch": guesses.global_batch,
        "Precision": guesses.precision,
        "Sequence": guesses.sequence_length,
        "Layout": guesses.layout,
    }
    return {title: one for title, one in found.items() if one is not None}


def guess_text(guess: Guess[str] | Guess[float] | Guess[int]) -> str:
    """Return the value of a guess as text."""
    return guess.value if isinstance(guess.value, str) else f"{guess.value:,.0f}"


def table_of(traces: Sequence[Trace]) -> pd.DataFrame:
    """Return the runs of a table, one row each; empty cells are not told.

    The page offers it as CSV: a name from a file must not be run as a formula.
    """
    return pd.DataFrame(
        {
            "Model": [safe_cell(trace.model) for trace in traces],
            "Accelerators": [safe_cell(accelerators(trace)) for trace in traces],
            "Step time, s": [_rounded(trace.step_time_s) for trace in traces],
            "Busy, %": [_rounded(trace.gpu_busy_share, 100) for trace in traces],
            "Global batch": [trace.global_batch for trace in traces],
            "Throughput, 1/s": [_rounded(trace.throughput) for trace in traces],
            "Precision": [safe_cell(trace.precision) for trace in traces],
        }
    )


def kept_words(result: AddResult) -> str:
    """Say what became of runs that were added to the store."""
    parts = []
    if result.added:
        parts.append(f"Kept {_runs(result.added)}: new in your store.")
    if result.known:
        verb = "was" if result.known == 1 else "were"
        parts.append(f"{_runs(result.known).capitalize()} {verb} in your store already.")
    for number_of, what in (
        (result.deleted, "deleted"),
        (result.corrected, "corrected"),
        (result.outliers, "marked as an outlier"),
    ):
        if number_of:
            parts.append(f"{_runs(number_of).capitalize()} of them stays out of use: {what} "
                         "before. Undo that below to use it.")  # fmt: skip
    return " ".join(parts)


def _runs(count: int) -> str:
    return "one run" if count == 1 else f"{count:,} runs"


def _communication(trace: Trace) -> str:
    """Return the share of communication, and of it what no kernel hides."""
    exposed = trace.comm_exposed_share
    said = _share(trace.comm_share)
    return said if exposed is None else f"{said}, {_share(exposed)} exposed"


def _share(value: float | None) -> str:
    return NOT_TOLD if value is None else f"{100 * value:.1f}{NBSP}%"


def _rounded(value: float | None, times: float = 1.0) -> float | None:
    return None if value is None else round_significant(times * value)


def escaped(text: str) -> str:
    """Return told text for markdown, in grey where nothing is told."""
    return f":gray[{text}]" if text == NOT_TOLD else f"**{plain(text)}**"
