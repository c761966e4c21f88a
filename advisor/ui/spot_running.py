"""A job that runs: its log and its machines in, what is left and what to do out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from advisor.advice.job_line import parse_job
from advisor.advice.running import Run, running_forecast
from advisor.advice.spot_job import SpotOptions
from advisor.advice.spot_question import named_plan
from advisor.advice.spot_words import running_lines
from advisor.core.errors import AdvisorError, InvalidInputError
from advisor.core.units import NBSP, hours, interval, number, percent, usd
from advisor.search.constraints import DEFAULT_CHANCE
from advisor.traces.progress import read_progress
from advisor.transient import POLICIES
from advisor.ui import notices
from advisor.ui.address import current_inputs
from advisor.ui.spot_history import own_history
from advisor.ui.state import engine
from advisor.ui.text import plain
from advisor.ui.theme import MARKET_TITLES

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from advisor.domain.spot import RunningForecast

MARKETS: Final = ("spot", "on_demand")
PLANNED: Final = ("zones", "price_ceiling", "on_demand")  # they plan a job from its start
MOST_MB: Final = 50


def show_running() -> None:
    """Draw the form and, with a log, the forecast; a log given again is a new forecast."""
    st.markdown("#### A job that runs", anchors=False)
    st.markdown(
        ":gray[Its log so far gives the time that is left, the chance of its deadline and the "
        "latest moment to leave spot. Give the log again later: the forecast is new.]"
    )
    job = current_inputs().job
    with st.grid(3, min_column_width=220, gap="small"):
        line = st.text_input("Job", job, key="running_job",
                             placeholder="ResNet-50, 90 epochs, batch 256")  # fmt: skip
        machines = st.text_input("Machines", key="running_machines",
                                 placeholder="4 x g4dn.12xlarge")  # fmt: skip
        region = st.text_input("Region", key="running_region", placeholder="the cheapest")
        market = st.selectbox("Market", MARKETS, key="running_market",
                              format_func=lambda name: MARKET_TITLES[name])  # fmt: skip
        policies = [name for name in POLICIES if name not in PLANNED]
        policy = st.selectbox("When a machine is taken", policies, key="running_policy",
                              index=policies.index("restart"),
                              format_func=lambda name: POLICIES[name].label)  # fmt: skip
        deadline = _number("Deadline, h after the first line", "none", "running_deadline", 0.1)
        left = _number("Machines left", "all, or as the log says", "running_left", 1.0)
        age = _number("Age of the youngest, h", "since the last restart", "running_age", 0.01)
        slowest = _number("Slowest machine, × the middle one", "not told", "running_slowest", 1.0)
    file = st.file_uploader("Log of the job (date, time and step a line; or CSV: step, elapsed_s, "
                            "workers)", key="running_log", max_upload_size=MOST_MB)  # fmt: skip
    if file is None:
        return
    run = Run(
        policy=str(policy), deadline_h=deadline, chance=DEFAULT_CHANCE,
        machines_left=None if left is None else int(left), machines_age_h=age,
        slowest_ratio=slowest, options=SpotOptions(history=own_history()),
    )  # fmt: skip
    try:
        forecast = _forecast(file, str(line), str(machines), str(region), str(market), run)
    except AdvisorError as error:
        notices.not_understood(error)
        return
    show_forecast(forecast)


def _number(label: str, none: str, key: str, least: float) -> float | None:
    found = st.number_input(label, min_value=least, value=None, format="%g", placeholder=none,
                            key=key)  # fmt: skip
    return None if found is None else float(found)


def _forecast(
    file: UploadedFile, line: str, machines: str, region: str, market: str, run: Run
) -> RunningForecast:
    if not line.strip() or not machines.strip():
        raise InvalidInputError(
            "the job or its machines are not given.",
            where="a job that runs",
            todo="Say what is trained (“ResNet-50, 90 epochs, batch 256”) and on what "
            "(“4 x g4dn.12xlarge”).",
        )
    loaded = engine()
    progress = read_progress(file.getvalue(), "the log")
    workload = parse_job(line).job.workload()
    evaluated, row = named_plan(machines, region.strip(), market, workload, loaded)
    return running_forecast(progress, evaluated, row, loaded.catalog, run)


def show_forecast(one: RunningForecast) -> None:
    """Draw what is left, the advice first, and why the job is slow where it is."""
    with st.container(border=True, gap="xsmall", key="running_forecast"):
        st.markdown(f"**:primary[:material/flag:] {plain(one.advice)}**")
        least, most = ("≥ ", "≤ ") if one.bound else ("", "")
        left, bill = one.remaining_h, one.remaining_usd
        with st.grid(5, min_column_width=128, gap="small"):
            bounds = interval(*(hours(b, like=left.value) for b in (left.low, left.high)))
            _metric("Time left", f"{least}{hours(left.value)}{NBSP}h", bounds)
            bounds = interval(number(bill.low), number(bill.high))
            _metric("Cost left", f"{least}{usd(bill.value)}", bounds)
            if one.deadline_probability is not None:
                _metric("Deadline met", f"{most}{percent(one.deadline_probability)}", None)
            if one.switch_by_h is not None:
                moment = "now" if one.switch_by_h <= 0 else f"in {hours(one.switch_by_h)}{NBSP}h"
                _metric("Switch to on demand", f"{moment}", None)
            done = f"{100 * one.steps_done / one.steps:.0f}{NBSP}%"
            _metric("Done", done, f"{one.steps_done:,} of {one.steps:,}")
        for said in running_lines(one):
            st.markdown(f":small[:gray[{plain(said)}]]")
    if one.slow is None:
        return
    with st.container(border=True, gap="xsmall", key="running_slow"):
        words = one.slow.cause_words
        st.markdown(f":orange[:material/warning:] **{plain(words[:1].upper() + words[1:])}.**")
        for advice in one.slow.advice:
            st.markdown(f"- {plain(advice)}")


def _metric(label: str, value: str, bounds: str | None) -> None:
    st.metric(label, value, bounds, delta_color="off", delta_arrow="off")
