"""Save a plan from its detail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from advisor.advice.job_line import parse_job
from advisor.core.errors import AdvisorError
from advisor.store import Store
from advisor.ui import basket, notices
from advisor.ui.state import address_values
from advisor.ui.text import plain

if TYPE_CHECKING:
    from advisor.domain import Plan, Workload

_SAVED: Final = "plans_saved"
_LONGEST: Final = 200


def usual_name(key: str, line: str, workload: Workload) -> str:
    """Return the name that is offered: the model, as the job's line calls it, and the machines."""
    try:
        model = parse_job(line).job.model
    except AdvisorError:
        model = workload.model.name
    return f"{model} on {basket.short_name(key)}"[:_LONGEST]


def save_button(plan: Plan, workload: Workload, key: str) -> None:
    """Draw the button that asks for a name and saves the plan."""
    times = len(st.session_state.get(_SAVED, {}).get(key, ()))
    place = f"save_{key}_{times}"  # another one after each save: it is closed then
    with (
        st.popover("Save plan", icon=":material/bookmark_add:", key=place),
        st.form(f"form_{place}", border=False),
    ):
        name = usual_name(key, str(address_values().get("job", "")), workload)
        st.text_input("Name", name, key=f"name_{place}", max_chars=_LONGEST)
        st.form_submit_button("Save", type="primary", on_click=_save,
                              args=(plan, workload, key, f"name_{place}"))  # fmt: skip


def show_saved_as(key: str) -> None:
    """Say that the plan was saved, with the way to all saved plans; or why it was not."""
    problem = st.session_state.get("plans_not_saved")
    if problem and problem[0] == key:
        notices.not_understood(problem[1])
    names = st.session_state.get(_SAVED, {}).get(key)
    if not names:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="saved"):
        st.markdown(f":green[:material/check_circle:] Saved as **{plain(names[-1])}**",
                    width="stretch")  # fmt: skip
        # A link: a script may not leave a page whose widgets the address holds.
        st.page_link("advisor/ui/pages/plans.py", label="Plans", icon=":material/bookmark:")


def _save(plan: Plan, workload: Workload, key: str, field: str) -> None:
    """Keep the plan with the address that opens it (a callback)."""
    st.session_state.pop("plans_not_saved", None)
    address = address_values() | {"plan": key}
    inputs = {
        name: [str(value) for value in values] if isinstance(values, list) else str(values)
        for name, values in address.items()
        if name != basket.PARAMETER
    }
    try:
        with Store.open() as store:
            saved = store.save_plan(plan, workload, name=str(st.session_state[field] or ""),
                                    job=str(inputs.get("job", "")), inputs=inputs)  # fmt: skip
    except AdvisorError as error:
        st.session_state["plans_not_saved"] = (key, error)
        return
    names = st.session_state.setdefault(_SAVED, {})
    names[key] = (*names.get(key, ()), saved.name)
