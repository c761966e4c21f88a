"""Advise: the job on top, then the answer to it, or one of its plans in detail."""

from __future__ import annotations

import streamlit as st

from advisor.advice import Engine
from advisor.advice.advise import select
from advisor.advice.caveats import caveats
from advisor.advice.forecast import current_plan
from advisor.advice.job_line import parse_job
from advisor.core.errors import AdvisorError
from advisor.core.units import count
from advisor.domain import Plan, Workload
from advisor.ui import calibration, notices, sidebar
from advisor.ui.answer import Answer, show_answer, show_chart
from advisor.ui.detail import show_plan
from advisor.ui.state import (
    DEFAULT_DEADLINE_H,
    DEFAULT_JOB,
    SAMPLES,
    Inputs,
    clouds_of,
    engine,
    inputs_of,
    session_values,
)
from advisor.ui.text import plain


def first_visit() -> None:
    """Show the sample job where the address asks for nothing.

    It goes through the address, so that copying it gives the same answer.
    """
    if "visited" not in st.session_state and not st.query_params:
        st.session_state["visited"] = True
        sample = {"job": DEFAULT_JOB, "deadline": f"{DEFAULT_DEADLINE_H:g}"}
        st.switch_page("advisor/ui/pages/advise.py", query_params=sample)


def use_sample() -> None:
    """Put the chosen sample into the job line (a callback)."""
    chosen = st.session_state["samples"]
    if chosen:
        notices.use_job(SAMPLES[chosen])


def take_limits() -> None:
    """Move a deadline and a budget of the job's line into their fields (a callback)."""
    try:
        stated = parse_job(st.session_state["job"])
    except AdvisorError:
        return
    if stated.deadline_h is not None:
        st.session_state["deadline"] = stated.deadline_h
    if stated.budget_usd is not None:
        st.session_state["budget"] = stated.budget_usd


def job_line() -> None:
    """Draw the job's line, the way to traces and the samples."""
    line, trace, samples = st.columns([10, 2, 2], vertical_alignment="center")
    line.text_input("Job", key="job", bind="query-params", icon=":material/edit:",
                    label_visibility="collapsed", max_chars=20_000, on_change=take_limits,
                    placeholder="Llama-2-7B, 10 B tokens, sequence 4096, batch 1024")  # fmt: skip
    trace.page_link("advisor/ui/pages/profiles.py", label="From a trace",
                    icon=":material/upload_file:")  # fmt: skip
    samples.menu_button("Samples", list(SAMPLES), icon=":material/library_books:", key="samples",
                        width="stretch", on_click=use_sample)  # fmt: skip


def job_chips(workload: Workload) -> None:
    """Say how the job was understood and what was assumed."""
    words = [f"{count(workload.model.params)} parameters", f"{workload.steps:,} steps",
             f"batch {workload.global_batch:,}", workload.precision]  # fmt: skip
    chips = [f":gray-badge[{plain(word)}]" for word in words]
    chips += [f":orange-badge[:material/help: Assumed: {plain(text)}]"
              for text in workload.assumptions]  # fmt: skip
    chips += [f":red-badge[:material/warning: {plain(text)}]" for text in caveats(workload)]
    st.markdown(" ".join(chips))


def today_plan(
    inputs: Inputs, workload: Workload, loaded: Engine, deadline_h: float | None
) -> Plan | None:
    """Return the plan of today's set-up, or None; a set-up that cannot be read is said."""
    if not inputs.today.strip():
        return None
    try:
        return current_plan(inputs.today, workload, loaded, deadline_h, options=inputs.options)
    except AdvisorError as error:
        notices.not_understood(error)
        return None


def show(inputs: Inputs) -> None:
    """Draw the answer to the inputs, or the plan that the address names."""
    answer = calibration.answer_to(inputs)
    loaded, table = answer.engine, answer.table
    limits = inputs.limits(clouds_of(loaded))
    result = select(table, limits)
    with st.sidebar:
        sidebar.account(table, result)
    calibration.show_runs(inputs, answer)
    if "plan" in st.query_params:
        show_plan(st.query_params["plan"], table, result, limits, loaded)
    elif result.picks:
        current = today_plan(inputs, table.workload, loaded, limits.deadline_h)
        show_answer(Answer(table, result, limits, loaded, current))
    else:
        notices.nothing_feasible(table, limits)
        show_chart(Answer(table, result, limits, loaded, None), "Nearest plans")


first_visit()
calibration.agree_with_address()
with st.sidebar:
    sidebar.constraints()
try:
    with st.container(border=True, gap="xsmall"):
        job_line()
        inputs = inputs_of(session_values())
        if inputs.job:
            job_chips(inputs.parsed.workload())
    if inputs.job:
        show(inputs)
    else:
        notices.nothing_asked(engine())
except AdvisorError as error:
    notices.not_understood(error)
