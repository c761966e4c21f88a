"""One saved plan on the page: what was predicted, what can be done, what runs of it took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from advisor.advice.saved import Outcome, outcomes
from advisor.core.errors import InvalidInputError
from advisor.core.units import NBSP, hours, interval, number, usd
from advisor.ui import basket, plan_edits
from advisor.ui.address import Address, address_of, restore
from advisor.ui.cards import BASIS_BADGES, interruption_badge
from advisor.ui.plan_changes import show_changes, words_of
from advisor.ui.state import inputs_of
from advisor.ui.text import plain
from advisor.ui.theme import MARKET_TITLES

if TYPE_CHECKING:
    from advisor.domain import Estimate, Interruptions
    from advisor.store import FinishedRun, SavedPlan
    from advisor.ui.state import Inputs

ADVISE = "advisor/ui/pages/advise.py"


def show_saved(saved: SavedPlan, current: Inputs) -> None:
    """Draw a saved plan; one of the `current` job can be compared with others of it."""
    with st.container(border=True, gap="xsmall", key=f"saved_{saved.id}"):
        with st.container(horizontal=True, horizontal_alignment="distribute",
                          vertical_alignment="center", gap="xsmall"):  # fmt: skip
            st.markdown(f"#### {plain(saved.name)}", anchors=False, width="stretch")
            with st.container(horizontal=True, gap="xsmall", width="content"):
                _open(saved)
                _compare(saved, current)
                _finish(saved)
                _edit(saved)
        if saved.job:
            st.markdown(f":gray[{plain(saved.job)}]")
        _prediction(saved)
        for run in saved.finished:
            _run(saved, run)
        changed = st.expander("What changed since", icon=":material/update:", on_change="rerun",
                              key=f"since_{saved.id}")  # fmt: skip
        if changed.open:
            with changed:
                show_changes(saved)


def address_of_plan(saved: SavedPlan) -> Address:
    """Return the address that asks for the plan anew, empty where no job was kept.

    Only what the page knows is taken: a restored store can hold anything.
    """
    inputs = _inputs(saved)
    if not inputs.job:
        return {}
    key = saved.inputs.get("plan")
    return address_of(inputs) | ({"plan": key} if isinstance(key, str) and key else {})


def run_words(outcome: Outcome) -> str:
    """Return what a run took against what was predicted, as markdown."""
    badge = (
        ":green-badge[:material/check: inside the interval]"
        if outcome.inside
        else ":orange-badge[:material/warning: outside the interval]"
    )
    ratio = "" if outcome.ratio is None else f" · {number(outcome.ratio)} × predicted"
    return (
        f"{outcome.name} **{plain(_amount(outcome.measured, outcome.predicted))}** "
        f":gray[predicted {plain(words_of(outcome.predicted))}{ratio}] {badge}"
    )


def _amount(value: float, like: Estimate) -> str:
    if like.unit == "h":
        return f"{hours(value)}{NBSP}h"
    return usd(value) if like.unit == "USD" else f"{number(value)}{NBSP}{like.unit}"


def _open(saved: SavedPlan) -> None:
    address = address_of_plan(saved)
    pressed = st.button("Open", key=f"open_{saved.id}", icon=":material/open_in_new:",
                        disabled=not address)  # fmt: skip
    if pressed:
        restore(_inputs(saved))
        st.switch_page(ADVISE, query_params=address)


def _compare(saved: SavedPlan, current: Inputs) -> None:
    """Offer to compare a plan of the job that is asked for now."""
    key = address_of_plan(saved).get("plan")
    if isinstance(key, str) and basket.clean([key]) and _inputs(saved) == current:
        basket.toggle_button(key, saved.id, icon_only=True)


def _inputs(saved: SavedPlan) -> Inputs:
    return inputs_of({"job": saved.job, **saved.inputs})


def _finish(saved: SavedPlan) -> None:
    place = f"finish_{saved.id}_{plan_edits.round_of_forms()}"
    with (
        st.popover("It ran", icon=":material/flag:", key=place),
        st.form(f"form_{place}", border=False),
    ):
        st.markdown("What did it take?")
        st.number_input("Hours, from start to end", min_value=0.001, value=None, step=1.0,
                        format="%g", key=f"hours_{place}",
                        placeholder="not recorded")  # fmt: skip
        st.number_input("Bill, USD", min_value=0.0, step=10.0, value=None, format="%g",
                        key=f"cost_{place}", placeholder="not recorded")  # fmt: skip
        st.file_uploader("Trace or log of it", key=f"file_{place}", help="Its step is compared "
                         "with the prediction, and calibrates your next answers.")  # fmt: skip
        st.text_area("Note", key=f"note_{place}", max_chars=2000, height=68)
        st.form_submit_button("Record", type="primary", on_click=plan_edits.finish,
                              args=(place, saved.id, f"hours_{place}", f"cost_{place}",
                                    f"note_{place}", f"file_{place}"))  # fmt: skip
        plan_edits.show_problem(place)


def _edit(saved: SavedPlan) -> None:
    place = f"edit_{saved.id}_{plan_edits.round_of_forms()}"
    with st.popover("Edit", icon=":material/edit:", key=place):
        with st.form(f"form_{place}", border=False):
            st.text_input("Name", saved.name, key=f"name_{place}", max_chars=200)
            st.form_submit_button("Rename", on_click=plan_edits.rename,
                                  args=(place, saved.id, f"name_{place}"))  # fmt: skip
        st.button("Delete", key=f"delete_{place}", icon=":material/delete:",
                  on_click=plan_edits.delete, args=(place, saved.id))  # fmt: skip
        plan_edits.show_problem(place)


def _prediction(saved: SavedPlan) -> None:
    cost, time = saved.cost_usd, saved.hours
    spot = _interruptions(saved)
    bound = "" if spot is None or spot.known else "≥ "
    with st.grid(4, min_column_width=128, gap="small"):
        st.markdown(
            f"**{plain(saved.machines)}**  \n"
            f":small[:gray[{plain(saved.cloud)} {plain(saved.region)} · "
            f"{MARKET_TITLES[saved.market]}]]"
        )
        st.metric("Cost, 90 %", f"{bound}{usd(cost.value)}",
                  interval(number(cost.low), number(cost.high)),
                  delta_color="off", delta_arrow="off")  # fmt: skip
        bounds = interval(*(hours(v, like=time.value) for v in (time.low, time.high)))
        st.metric("Time, 90 %", f"{bound}{hours(time.value)}{NBSP}h", bounds,
                  delta_color="off", delta_arrow="off")  # fmt: skip
        st.metric("Price of a machine", f"{usd(saved.usd_per_h)}/h",
                  str(saved.price_as_of or "not dated"), delta_color="off", delta_arrow="off",
                  )  # fmt: skip
    st.markdown(
        f"{BASIS_BADGES[cost.basis]} {interruption_badge(spot)} "
        f":gray-badge[:material/calendar_today: Saved {saved.created_at:%Y-%m-%d %H:%M} UTC]"
    )


def _interruptions(saved: SavedPlan) -> Interruptions | None:
    """Return what was known of interruptions; None where the plan cannot be read any more."""
    try:
        return saved.plan.interruptions
    except InvalidInputError:
        return None


def _run(saved: SavedPlan, run: FinishedRun) -> None:
    with st.container(border=True, gap="xsmall", key=f"run_{run.id}"):
        with st.container(horizontal=True, horizontal_alignment="distribute",
                          vertical_alignment="center"):  # fmt: skip
            st.markdown(f"**It ran** :small[:gray[recorded {run.recorded_at:%Y-%m-%d}]]",
                        width="stretch")  # fmt: skip
            st.button("Take back", key=f"back_{run.id}", type="tertiary",
                      on_click=plan_edits.take_back,
                      args=("page", run.id, "finish_plan"))  # fmt: skip
        for outcome in outcomes(saved, run):
            st.markdown(run_words(outcome))
        if run.note:
            st.markdown(f":gray[{plain(run.note)}]")
