"""The card of an uploaded file: what was understood, what holds it up, what can be done with it."""

from __future__ import annotations

from typing import Final

import streamlit as st

from advisor.core.errors import AdvisorError, InvalidInputError
from advisor.store import Store
from advisor.ui.address import open_advise
from advisor.ui.reads import Upload
from advisor.ui.run_charts import show_run_charts
from advisor.ui.run_fields import (
    MOST_LOOKED_AT,
    draw_fields,
    given_fields,
    inputs_from,
    runs_of_upload,
)
from advisor.ui.run_findings import show_findings
from advisor.ui.run_words import (
    escaped,
    format_name,
    guess_text,
    guessed,
    kept_words,
    table_of,
    told,
)
from advisor.ui.state import engine
from advisor.ui.text import plain
from advisor.ui.uploads import drop, uploads

KEPT: Final = "kept"
_MOST_WARNINGS: Final = 3
_MOST_TEXT: Final = 1000


def show_upload(upload: Upload) -> None:
    """Draw one file."""
    with st.container(border=True, gap="xsmall", key=f"upload_{upload.number}"):
        _head(upload)
        if upload.error is not None:
            _problem(upload.error)
            return
        if len(upload.traces) == 1:
            _facts(upload)
            show_findings(upload)
            show_run_charts(upload.traces[0], upload.number)
        else:
            _table(upload)
        _warnings(upload)
        draw_fields(upload, engine().catalog)
        _actions(upload)


def keep_all() -> None:
    """Keep the runs of all files that say enough (a callback)."""
    for upload in uploads():
        if upload.error is None:
            keep(upload.number)


def keep(number: int) -> None:
    """Keep the runs of a file as the user's own (a callback); says what became of them."""
    upload = next(one for one in uploads() if one.number == number)
    said = st.session_state.setdefault(KEPT, {})
    try:
        runs = runs_of_upload(upload, given_fields(upload), engine().catalog)
        with Store.open() as store:
            said[number] = kept_words(store.add(runs))
    except AdvisorError as error:
        said[number] = error


def _head(upload: Upload) -> None:
    icon = ":red[:material/error:]" if upload.error else ":primary[:material/monitoring:]"
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if upload.error is not None:
            note = ":red-badge[Not read]"
        elif len(upload.traces) > 1:
            note = (
                f":gray-badge[{plain(format_name(upload.traces[0]))}] {len(upload.traces):,} runs"
            )
        else:
            note = f":gray-badge[{plain(format_name(upload.traces[0]))}]"
        st.markdown(f"#### {icon} {plain(upload.name)} :small[{note}]", anchors=False)
        st.button("", key=f"drop_upload_{upload.number}", icon=":material/close:", type="tertiary",
                  help="Take off the list", on_click=drop, args=(upload.number,))  # fmt: skip


def _problem(error: AdvisorError) -> None:
    todo = f"  \n:gray[**What to do:** {plain(_short(error.todo))}]" if error.todo else ""
    where = f"{error.where}: " if error.where else ""
    st.markdown(f":red[{plain(_short(where + error.what))}]{todo}")


def _short(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"


def _facts(upload: Upload) -> None:
    guesses = guessed(upload.guesses)
    with st.grid(9, min_column_width=104, gap="small"):
        for title, text in told(upload.traces[0]).items():
            mark = ""
            if title in guesses:
                mark = f" :orange-badge[Guess: {plain(guess_text(guesses[title])[:40])}]"
            st.markdown(f":small[:gray[{title}]]  \n{escaped(text[:60])}{mark}")
    if guesses:
        with st.expander("Why these guesses", icon=":material/help:"):
            for title, one in guesses.items():
                reasons = " ".join(plain(reason) for reason in one.evidence)
                st.markdown(f"**{title}: {plain(guess_text(one))}** :gray[({one.confidence} "
                            f"confidence)] {reasons}")  # fmt: skip


def _table(upload: Upload) -> None:
    shown = upload.traces[:MOST_LOOKED_AT]
    if len(shown) < len(upload.traces):
        st.markdown(f":gray[The first {len(shown):,} of {len(upload.traces):,} runs:]")
    st.dataframe(table_of(shown), hide_index=True, height="auto", key=f"runs_{upload.number}",
                 placeholder="not told",
                 alt=f"Runs of the table {upload.name}")  # fmt: skip


def _warnings(upload: Upload) -> None:
    said = list(dict.fromkeys(text for one in upload.traces[:MOST_LOOKED_AT]
                              for text in one.warnings))  # fmt: skip
    lines = [f":orange[:material/warning:] {plain(_short(text))}" for text in said]
    if lines[:_MOST_WARNINGS]:
        st.markdown("  \n".join(lines[:_MOST_WARNINGS]))
    if lines[_MOST_WARNINGS:]:
        with st.expander(f"{len(lines) - _MOST_WARNINGS} more warnings"):
            st.markdown("  \n".join(lines[_MOST_WARNINGS:]))


def _actions(upload: Upload) -> None:
    catalog, given = engine().catalog, given_fields(upload)
    problem: AdvisorError | None = None
    try:
        runs_of_upload(upload, given, catalog, most=MOST_LOOKED_AT)
    except InvalidInputError as error:
        problem = error
        st.markdown(f":orange[:material/edit:] {plain(error.what[:1].upper() + error.what[1:])} "
                    f"{plain(error.todo)}")  # fmt: skip
    said = st.session_state.get(KEPT, {}).get(upload.number)
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        many = len(upload.traces) > 1
        st.button(f"Keep {len(upload.traces):,} runs" if many else "Keep", on_click=keep,
                  key=f"keep_{upload.number}", icon=":material/save:", args=(upload.number,),
                  disabled=problem is not None)  # fmt: skip
        label = "Advise from the first" if many else "Advise from this"
        if st.button(label, key=f"advise_{upload.number}", type="primary",
                     icon=":material/arrow_forward:", disabled=problem is not None):  # fmt: skip
            _advise(upload)
        if isinstance(said, str):
            st.markdown(f":green[:material/check:] {said}", width="content")
    if isinstance(said, AdvisorError) and problem is None:
        _problem(said)


def _advise(upload: Upload) -> None:
    """Keep the runs and go to Advise with the job of the file, calibrated by them."""
    catalog, given = engine().catalog, given_fields(upload)
    try:
        runs = runs_of_upload(upload, given, catalog)
        inputs = inputs_from(upload, runs, given, catalog)
        with Store.open() as store:
            store.add(runs)
    except AdvisorError as error:
        _problem(error)
        return
    open_advise(inputs)
