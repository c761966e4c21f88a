"""The store on the Profiles page: search, correct, leave out, delete, undo, train anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import streamlit as st

from advisor.core.errors import AdvisorError
from advisor.store import Store
from advisor.ui.notices import not_understood
from advisor.ui.refitting import show_learning
from advisor.ui.stored_runs import (
    NUMBERS,
    ORIGINS,
    STATES,
    TEXTS,
    changes_of,
    edit_words,
    matching,
    of_runs,
    own_first,
    run_title,
    shown_table,
)
from advisor.ui.text import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from advisor.store import Edit

_PROBLEM: Final = "store_problem"
_MOST_EDITS: Final = 5
_ROWS_PX: Final = 420


@st.cache_resource(max_entries=2, show_spinner=False)
def _frame(where: str, version: tuple[object, ...]) -> pd.DataFrame:  # noqa: ARG001 - the cache's key
    with Store.open() as store:
        return own_first(store.profiles(state=None))


@st.fragment
def show_store() -> None:
    """Draw the runs of the store; a choice here reruns this part of the page only."""
    with Store.open() as store:
        edits = store.edits(most=100)
        newest = tuple((one.id, one.undone_at) for one in edits[:20])
        frame = _frame(store.where, (store.data_hash(), newest))
    own = int((frame["origin"] == "user").sum())
    st.markdown(f"## Store :small[:gray[{len(frame):,} measured runs, {own:,} of your own]]",
                anchors=False)  # fmt: skip
    with Store.open() as store:
        show_learning(store)
    found = _filters(frame)
    chosen = _table(found)
    problem = st.session_state.pop(_PROBLEM, None)
    if problem is not None:
        not_understood(problem)
    if chosen is not None:
        edit_run(_row(found.iloc[chosen]))
    last_changes(edits, frame)


def _row(row: pd.Series[Any]) -> dict[str, Any]:
    return {str(name): value for name, value in row.items()}


def _filters(frame: pd.DataFrame) -> pd.DataFrame:
    with st.grid(4, min_column_width=200, gap="small"):
        words = st.text_input("Search", key="store_words", icon=":material/search:",
                              placeholder="model, accelerator, source")  # fmt: skip
        accelerators = st.multiselect("Accelerators", sorted(frame["accelerator"].unique()),
                                      key="store_accelerators", placeholder="all")  # fmt: skip
        origins = st.pills("Whose", list(ORIGINS), selection_mode="multi", key="store_origins",
                           format_func=ORIGINS.__getitem__)  # fmt: skip
        states = st.pills("State", list(STATES), selection_mode="multi", key="store_states",
                          format_func=STATES.__getitem__, wrap=True)  # fmt: skip
    return matching(frame, words, origins=origins, accelerators=accelerators, states=states)


def _table(found: pd.DataFrame) -> int | None:
    """Draw the runs; return the position of the chosen one."""
    if not len(found):
        st.markdown(":gray[No run of the store is like that. Search for less.]")
        return None
    shown = shown_table(found)
    # A selection is one of positions: other rows need another widget.
    key = f"stored_{pd.util.hash_pandas_object(shown.index.to_series(), index=False).sum():x}"
    whole = st.column_config.NumberColumn(format="localized")
    state = st.dataframe(
        shown, hide_index=True, on_select="rerun", selection_mode="single-row", key=key,
        height=min(_ROWS_PX, 36 * (len(shown) + 1)), alt="Measured runs of the store",
        column_config={"Count": whole, "Batch": whole},
    )  # fmt: skip
    rows = state["selection"]["rows"]
    if not rows:
        counted = "1 run" if len(found) == 1 else f"{len(found):,} runs"
        st.markdown(f":small[:gray[{counted}. Tick one to correct it, to keep it out of training, "
                    "or to delete it.]]")  # fmt: skip
    return rows[0] if rows and rows[0] < len(found) else None


def edit_run(row: Mapping[str, Any]) -> None:
    """Offer what can be done with the chosen run."""
    key, state = str(row["content_hash"]), str(row["state"])
    with st.container(border=True, gap="xsmall", key="chosen_run"):
        st.markdown(f"**{plain(run_title(row))}** :gray[{STATES[state].lower()}"
                    f"{', ' + plain(str(row['notes'])) if row['notes'] else ''}]")  # fmt: skip
        if state in ("superseded", "deleted"):
            st.markdown(":gray[It stays so until that edit is undone below.]")
            return
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
            with st.popover("Correct", icon=":material/edit:"):
                _correct(row)
            is_out = state == "outlier"
            st.button("Take back in" if is_out else "Mark as outlier", key="mark_outlier",
                      icon=":material/block:", on_click=_do,
                      args=(lambda store: store.mark_outlier(key, outlier=not is_out),),
                      help="An outlier stays in the store and out of training")  # fmt: skip
            st.button("Delete", key="delete_run", icon=":material/delete:", on_click=_do,
                      args=(lambda store: store.delete_profile(key),))  # fmt: skip


def _correct(row: Mapping[str, Any]) -> None:
    key = str(row["content_hash"])
    with st.form(f"correct_{key}", border=False):
        for name, title in TEXTS.items():
            st.text_input(title, value=str(row[name]), key=f"new_{name}_{key}")
        for name, title in NUMBERS.items():
            value = None if pd.isna(row[name]) else float(row[name])
            st.number_input(title, value=value, format="%g", key=f"new_{name}_{key}")
        st.form_submit_button("Save the correction", type="primary", on_click=_save,
                              args=(row,))  # fmt: skip


def _save(row: Mapping[str, Any]) -> None:
    key = str(row["content_hash"])
    given = {name: st.session_state[f"new_{name}_{key}"] for name in (*TEXTS, *NUMBERS)}
    _do(lambda store: store.correct_profile(key, changes_of(row, given)))


def last_changes(made: list[Edit], frame: pd.DataFrame) -> None:
    """List the last edits of runs that still hold, each with the way back."""
    edits = of_runs(made)[:_MOST_EDITS]
    if not edits:
        return
    subjects = frame[frame["content_hash"].isin([one.subject for one in edits])]
    rows = [_row(row) for _, row in subjects.iterrows()]
    titles = {str(row["content_hash"]): run_title(row) for row in rows}
    with st.container(border=True, gap="xsmall", key="edits"):
        st.markdown("#### Last changes", anchors=False)
        for one in edits:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"{plain(edit_words(one, titles))} "
                            f":gray[{one.made_at:%Y-%m-%d %H:%M} UTC]")  # fmt: skip
                st.button("Undo", key=f"undo_{one.id}", icon=":material/undo:", type="tertiary",
                          on_click=_do, args=(lambda store, i=one.id: store.undo(i),))  # fmt: skip


def _do(action: Callable[[Store], Edit]) -> None:
    """Change the store (a callback); what is wrong is said where the table is."""
    try:
        with Store.open() as store:
            action(store)
    except AdvisorError as error:
        st.session_state[_PROBLEM] = error
