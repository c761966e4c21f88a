"""The user's own machines, discounts and credits: a form, a file to upload, what is wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import streamlit as st

from advisor.catalog import own
from advisor.core.errors import AdvisorError, InvalidInputError
from advisor.ui import notices
from advisor.ui.text import plain
from advisor.ui.theme import CLOUD_TITLES

if TYPE_CHECKING:
    from advisor.catalog.own import OwnTable, Parsed, Problem
    from advisor.catalog.own.table import Row

CHOSEN: Final = "own_list"
REFUSED: Final = "own_refused"
TITLES: Final = {"machines": "Machines", "discounts": "Discounts", "credits": "Credits",
                 "commitments": "Commitments", "rates": "Currencies",
                 "carbon": "Carbon"}  # fmt: skip
WORDS: Final = {
    "machines": "Machines that you own or rent under your own terms. Advise takes them as cloud "
                "“own”, and never more of them than are available.",
    "discounts": "What you negotiated with a cloud, off its list prices in one market.",
    "credits": "What is left of them. Plans are ranked by their whole bill, as credits could pay "
               "for other work; what is left to pay is said beside it.",
    "commitments": "Savings plans and capacity blocks that you hold, at your price. A block is "
                   "paid whole, and a job must end within it.",
    "rates": "What a currency is worth, and the day it was. No rate is fetched or assumed.",
    "carbon": "What the grids of regions emit; your cloud or grid publishes it. Accelerators count "
              "at their thermal design power; without a grid emissions are not available.",
}  # fmt: skip
MOST_SHOWN: Final = 10
Cells = dict[str, str]


def show_own_lists() -> None:
    """Draw the upload and the form of one list."""
    st.markdown("# Your machines and prices", anchors=False)
    with st.container(border=True, gap="small", key="own"):
        _upload()
        name = st.segmented_control("List", list(TITLES), key=CHOSEN, required=True,
                                    default="machines", format_func=TITLES.__getitem__,
                                    label_visibility="collapsed")  # fmt: skip
        st.markdown(f":gray[{WORDS[str(name)]}]")
        _form(own.TABLES[str(name)])


def _upload() -> None:
    batch = st.session_state.setdefault("own_batch", 0)
    st.file_uploader(
        "CSV of machines, discounts or credits", key=f"own_file_{batch}", max_upload_size=1,
        on_change=_take_file, help="Its header says which list it is; it fills the form below. "
                                   "Nothing is kept until you save.",
    )  # fmt: skip
    refused = st.session_state.get(REFUSED)
    if refused is not None:
        notices.not_understood(refused)


def _take_file() -> None:
    """Put an uploaded file into its form (a callback); one that is no list is refused."""
    batch = st.session_state["own_batch"]
    file = st.session_state[f"own_file_{batch}"]
    if file is None:
        return
    st.session_state["own_batch"] = batch + 1
    st.session_state[REFUSED] = None
    where = re.split(r"[\\/]", file.name)[-1]
    try:
        parsed = _read(file.read(own.MOST_BYTES + 1), where)
    except InvalidInputError as error:
        place = error.where or where
        st.session_state[REFUSED] = InvalidInputError(error.what, where=place, todo=error.todo)
        return
    st.session_state[CHOSEN] = parsed.table.name
    _set_draft(parsed.table, list(parsed.cells))


def _read(content: bytes, where: str) -> Parsed:
    """Return a file whose rows can stand in the form, with or without problems."""
    parsed = own.parse_any(content, own.known())
    if any(problem.row == 1 for problem in parsed.problems):
        parsed.checked(where)  # a wrong header is no row that could be corrected
    if not parsed.cells:
        raise InvalidInputError("the file has no rows.", todo="Add one below its header.")
    return parsed


def _draft(table: OwnTable) -> list[Cells]:
    """Return what the form begins with: a file that was uploaded, else the list that is saved."""
    drafts: list[Cells] | None = st.session_state.get(f"own_draft_{table.name}")
    cells = list(own.read(table).cells) if drafts is None else drafts
    return [_spelled(table, row) for row in cells]


def _set_draft(table: OwnTable, cells: list[Cells] | None) -> None:
    st.session_state[f"own_draft_{table.name}"] = cells
    st.session_state[_version(table)] = st.session_state.get(_version(table), 0) + 1


def _version(table: OwnTable) -> str:
    return f"own_version_{table.name}"


def _spelled(table: OwnTable, row: Cells) -> Cells:
    """Return the cells with names as the choices of the form spell them, where they are known."""
    shown = dict(row)
    for column in table.columns:
        text = row.get(column.name, "")
        if column.name not in own.CHOICES or not text:
            continue
        try:
            value = str(column.read(text, own.known()))
        except InvalidInputError:
            continue
        shown[column.name] = value.replace("_", "-") if column.name == "market" else value
    return shown


def _form(table: OwnTable) -> None:
    cells = _draft(table)
    frame = pd.DataFrame(cells, columns=list(table.header), dtype=object).fillna("").astype(object)
    version = st.session_state.get(_version(table), 0)
    edited = st.data_editor(
        frame, num_rows="dynamic", hide_index=True, key=f"own_editor_{table.name}_{version}",
        column_config=_columns(table, frame), alt=f"Your {table.name}",
    )  # fmt: skip
    rows = edited.fillna("").astype(str).to_numpy().tolist()
    text = own.cells_csv(table, (dict(zip(table.header, row, strict=True)) for row in rows))
    parsed = own.parse(text.encode(), table, own.known())
    _problems(table, parsed.problems)
    saved = own.read(table)
    changed = parsed.rows != saved.rows or bool(saved.problems)
    unreadable = bool(saved.problems) and not saved.cells
    if unreadable:
        _problems(table, saved.problems)
    with st.container(horizontal=True, gap="xsmall"):
        st.button("Save", key=f"own_save_{table.name}", type="primary", icon=":material/save:",
                  # A list that could not be read is replaced by rows, never by nothing.
                  disabled=bool(parsed.problems) or not changed or (unreadable and not parsed.rows),
                  on_click=_save, args=(table, parsed.rows))  # fmt: skip
        st.button("Discard changes", key=f"own_discard_{table.name}", icon=":material/undo:",
                  disabled=not (changed or parsed.problems), on_click=_set_draft,
                  args=(table, None))  # fmt: skip
        st.download_button("Template, CSV", own.template(table), table.file, "text/csv",
                           icon=":material/download:", on_click="ignore",
                           key=f"own_template_{table.name}")  # fmt: skip
        if saved.rows:
            st.download_button("Saved list, CSV", own.csv_text(table, saved.rows), table.file,
                               "text/csv", icon=":material/download:", on_click="ignore",
                               key=f"own_csv_{table.name}")  # fmt: skip


def _columns(table: OwnTable, frame: pd.DataFrame) -> dict[str, Any]:
    """Return the titles and meanings of the columns; names that are known can be chosen."""
    config: dict[str, Any] = {}
    for column in table.columns:
        title = column.title if column.required else f"{column.title} (optional)"
        if column.name not in own.CHOICES:
            config[column.name] = st.column_config.TextColumn(title, help=column.meaning)
            continue
        known = own.CHOICES[column.name](own.known())
        # What a file says stays visible, also where it is unknown.
        strange = [text for text in frame[column.name].unique() if text and text not in known]
        config[column.name] = st.column_config.SelectboxColumn(
            title, help=column.meaning, options=[*known, *strange],
            format_func=lambda name: CLOUD_TITLES.get(str(name), str(name)),
        )  # fmt: skip
    return config


def _problems(table: OwnTable, problems: tuple[Problem, ...]) -> None:
    """List what is wrong, by the row of the form."""
    titles = {column.name: column.title for column in table.columns}
    for problem in problems[:MOST_SHOWN]:
        row = "" if problem.row is None else f"Row {problem.row - 1}"
        names = ", ".join(titles.get(name, name) for name in problem.column.split(", ") if name)
        place = ", ".join(word for word in (row, names) if word)
        said = f"**{plain(place)}:** {plain(problem.what)} :gray[{plain(problem.todo)}]"
        st.markdown(f":red[:material/error:] {said}")
    if len(problems) > MOST_SHOWN:
        st.markdown(f":gray[and {len(problems) - MOST_SHOWN:,} more]")


def _save(table: OwnTable, rows: tuple[Row, ...]) -> None:
    """Save a list (a callback): everybody's next advice has it."""
    try:
        own.save(table, rows)
    except AdvisorError as error:
        st.session_state[REFUSED] = error
        return
    st.session_state[REFUSED] = None
    _set_draft(table, None)
    st.toast(f"Saved. Advise uses your {table.name} now.", icon=":material/check:")
