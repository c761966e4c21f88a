"""What a person does with saved plans, and the way back: callbacks and what they tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import streamlit as st

from advisor.advice.plan_runs import run_of_plan
from advisor.catalog import load
from advisor.core.errors import AdvisorError, InvalidInputError, UnknownNameError
from advisor.store import Store
from advisor.ui import notices
from advisor.ui.reads import file_name
from advisor.ui.text import plain

if TYPE_CHECKING:
    from collections.abc import Callable

_TOLD: Final = "plans_told"
_PROBLEM: Final = "plans_problem"
_ROUND: Final = "plans_round"


@dataclass(frozen=True, slots=True)
class Told:
    """What was done, as a sentence, and the edit that takes it back (None: nothing does)."""

    words: str
    edit: int | None


def round_of_forms() -> int:
    """Return a number that changes when an edit is done: forms and menus then start anew."""
    return int(st.session_state.get(_ROUND, 0))


def show_told() -> None:
    """Say what was done last, with its undo; or why it was not done."""
    told: Told | None = st.session_state.get(_TOLD)
    if told is None:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="told"):
        st.markdown(f":green[:material/check_circle:] {plain(told.words)}", width="stretch")
        if told.edit is not None:
            st.button("Undo", key="undo", icon=":material/undo:", on_click=undo, args=(told.edit,))


def show_problem(place: str) -> None:
    """Say why the last edit made at this place was not done."""
    problem = st.session_state.get(_PROBLEM)
    if problem and problem[0] == place:
        notices.not_understood(problem[1])


def rename(place: str, plan_id: str, field: str) -> None:
    """Name a plan as the field says (a callback)."""

    def act(store: Store) -> Told:
        edit = store.rename_plan(plan_id, str(st.session_state[field] or ""))
        return Told(f"Renamed “{edit.before}” to “{edit.after}”.", edit.id)

    _do(place, act)


def delete(place: str, plan_id: str) -> None:
    """Delete a plan (a callback)."""

    def act(store: Store) -> Told:
        edit = store.delete_plan(plan_id)
        return Told(f"Deleted “{edit.before}”.", edit.id)

    _do(place, act)


def finish(place: str, plan_id: str, hours: str, cost: str, note: str, file: str) -> None:
    """Record a run of a plan as the fields and the file of the run say (a callback)."""

    def act(store: Store) -> Told:
        took_h, paid_usd = st.session_state[hours], st.session_state[cost]
        given = st.session_state.get(file)
        if took_h is None and paid_usd is None and given is None:
            raise InvalidInputError(
                "nothing is filled in.", todo="Give the hours, the bill, a trace or log, or all."
            )
        profile = None
        if given is not None:
            saved = store.plan(plan_id)
            profile = run_of_plan(given, saved, load(), name=file_name(given.name))
        run = store.finish_plan(
            plan_id,
            hours=took_h,
            cost_usd=paid_usd,
            profile=profile,
            note=str(st.session_state[note] or "").strip(),
        )
        return Told("The run is recorded.", store.edits(run.id, most=1)[0].id)

    _do(place, act)


def take_back(place: str, subject: str, action: str) -> None:
    """Undo the deletion of a plan, or the recording of a run (a callback)."""

    def act(store: Store) -> Told:
        made = (edit for edit in store.edits(subject) if edit.action == action)
        edit = next((edit for edit in made if edit.undone_at is None), None)
        if edit is None:
            raise InvalidInputError("this was taken back before.", where="undo")
        store.undo(edit.id)
        back = f"“{edit.before}” is back." if action == "delete_plan" else "The run is taken back."
        return Told(back, None)

    _do(place, act)


def undo(edit_id: int) -> None:
    """Take back an edit (a callback)."""

    def act(store: Store) -> Told:
        edit = store.undo(edit_id)
        words = {
            "rename_plan": f"The plan is named “{edit.before}” again.",
            "delete_plan": f"“{edit.before}” is back.",
        }
        return Told(words.get(edit.action, "The run is taken back."), None)

    _do("page", act)


def _do(place: str, act: Callable[[Store], Told]) -> None:
    """Do it, and remember what to say of it; a problem leaves forms and menus as they are."""
    st.session_state.pop(_PROBLEM, None)
    st.session_state.pop(_TOLD, None)
    try:
        with Store.open() as store:
            st.session_state[_TOLD] = act(store)
        st.session_state[_ROUND] = round_of_forms() + 1
    except AdvisorError as error:
        # A plan that is no more has no place on the page.
        gone = isinstance(error, UnknownNameError)
        st.session_state[_PROBLEM] = ("page" if gone else place, error)
