"""Answers calibrated by the user's own runs: which runs, said on the page, and how to change them.

The address names the runs by the first letters of their content hashes, and so does the session.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import streamlit as st

from advisor.advice.calibrated import doubts
from advisor.advice.kept_runs import KeptRuns, kept_runs, keys_to_offer
from advisor.core.units import duration
from advisor.store import Store
from advisor.ui.state import calibrated, evaluated
from advisor.ui.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.advice import Engine
    from advisor.search.search import Evaluated
    from advisor.ui.state import Inputs

PARAMETER: Final = "runs"
_MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Calibrating:
    """The engine and the table that answer a job, and the runs behind them."""

    engine: Engine
    table: Evaluated
    kept: KeptRuns


def agree_with_address() -> None:
    """Use the runs that the address names, or else write those of the session into it."""
    listed = st.query_params.get_all(PARAMETER)
    if listed:
        st.session_state[PARAMETER] = listed
    elif st.session_state.get(PARAMETER):
        st.query_params[PARAMETER] = st.session_state[PARAMETER]


def use(keys: Sequence[str]) -> None:
    """Calibrate by these runs (a callback), or by none."""
    st.session_state[PARAMETER] = list(keys)
    if keys:
        st.query_params[PARAMETER] = list(keys)
    else:
        st.query_params.pop(PARAMETER, None)


def answer_to(inputs: Inputs) -> Calibrating:
    """Return what answers the inputs, calibrated by the runs that they name."""
    kept = KeptRuns()
    if inputs.runs:
        with Store.open() as store:
            kept = kept_runs(store, inputs.runs)
    job = inputs.parsed
    return Calibrating(
        calibrated(job, kept.profiles), evaluated(job, inputs.options, kept.profiles), kept
    )


def show_runs(inputs: Inputs, answer: Calibrating) -> None:
    """Say which runs calibrate the answer and which cannot; offer own runs where none do."""
    if not inputs.runs:
        _offer(inputs)
        return
    own = answer.engine.own_runs
    used = () if own is None else own.used
    names = [f"{plain(str(run))} :gray[({duration(run.measured_s)} a step)]" for run in used]
    with st.container(border=True, horizontal=True, gap="small", vertical_alignment="center",
                      key="calibration"):  # fmt: skip
        lines = []
        if used:
            more = f" and {len(used) - _MOST_NAMED:,} more" if len(used) > _MOST_NAMED else ""
            lines.append(f":blue[:material/tune:] **Calibrated by {_counted(len(used))}:** "
                         f"{', '.join(names[:_MOST_NAMED])}{more}")  # fmt: skip
        else:
            lines.append(":orange[:material/info:] **Calibrated by none of your runs**")
        lines += [f":orange[Check:] {plain(words)}" for words in doubts(own)]
        lines += [f":orange[Not used:] {words}" for words in _not_used(answer)]
        st.markdown("  \n".join(lines), width="stretch")
        st.button("Take out", key="runs_out", icon=":material/close:", type="tertiary",
                  help="Answer without your runs", on_click=use, args=((),))  # fmt: skip


def _not_used(answer: Calibrating) -> list[str]:
    own = answer.engine.own_runs
    unused = () if own is None else own.unused
    said = [f"{plain(run.name)}: {plain(run.reason)}" for run in unused]
    return said + [f"{plain(key[:40])} {why}" for key, why in answer.kept.unknown]


def _offer(inputs: Inputs) -> None:
    """Offer to calibrate by the user's own runs where there are any."""
    with Store.open() as store:
        number = store.count(origin="user")
        keys = keys_to_offer(store, inputs.parsed.model) if number else []
    if keys:
        st.button(f"Calibrate by {_counted(len(keys))}", key="runs_in", type="tertiary",
                  icon=":material/tune:", on_click=use, args=(keys,))  # fmt: skip


def _counted(number: int) -> str:
    return "one of your runs" if number == 1 else f"{number:,} of your runs"
