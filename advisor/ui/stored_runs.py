"""The measured runs of the store as a table to search, and what an edit is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from advisor.advice.exports import safe_cell
from advisor.core.units import round_significant

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from advisor.store import Edit

STATES: Final = {
    "active": "In use",
    "outlier": "Outlier",
    "superseded": "Corrected",
    "deleted": "Deleted",
}
OWN: Final = "Yours"
SHIPPED: Final = "Shipped"
ORIGINS: Final = {"user": OWN, "seed": SHIPPED}
_SEARCHED: Final = ("model", "accelerator", "instance_type", "framework", "source", "notes",
                    "content_hash")  # fmt: skip
# Fields of a run that a person may correct, with their titles; the first two are text.
TEXTS: Final = {"model": "Model", "precision": "Precision"}
NUMBERS: Final = {
    "accelerators": "Accelerators",
    "global_batch": "Global batch",
    "sample_size": "Sequence or side",
    "step_time_s": "Step time, s",
}
_ACTIONS: Final = {
    "correct": "Corrected",
    "mark_outlier": "Marked as an outlier:",
    "unmark_outlier": "Taken back in:",
    "delete_profile": "Deleted",
}


def own_first(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of the store, own ones first, then the newest."""
    order = frame.assign(shipped=frame["origin"] != "user")
    by = ["shipped", "created_at", "model", "content_hash"]
    ordered = order.sort_values(by, ascending=[True, False, True, True], kind="stable")
    return ordered.drop(columns="shipped")


def matching(
    frame: pd.DataFrame,
    words: str = "",
    *,
    origins: Collection[str] = (),
    accelerators: Collection[str] = (),
    states: Collection[str] = (),
) -> pd.DataFrame:
    """Return the runs that hold all words and are among what was chosen; nothing chosen: all."""
    keep = pd.Series(data=True, index=frame.index)
    for column, chosen in (
        ("origin", origins), ("accelerator", accelerators), ("state", states)
    ):  # fmt: skip
        if chosen:
            keep &= frame[column].isin(list(chosen))
    wanted = words.casefold().split()
    if wanted:
        text = frame[list(_SEARCHED)].astype(str).agg(" ".join, axis=1).str.casefold()
        for word in wanted:
            keep &= text.str.contains(word, regex=False)
    return frame[keep]


def shown_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return plain columns with units in their names, one row per run; the index has the hashes.

    The page offers it as CSV: a name from a file must not be run as a formula.
    """
    shown = pd.DataFrame(
        {
            "Whose": frame["origin"].map(ORIGINS),
            "Model": frame["model"].map(safe_cell),
            "Accelerator": frame["accelerator"].map(safe_cell),
            "Count": frame["accelerators"],
            "Step time, s": frame["step_time_s"].map(round_significant),
            "Batch": frame["global_batch"],
            "Precision": frame["precision"].map(safe_cell),
            "Source": frame["source"].map(safe_cell),
            "State": frame["state"].map(STATES),
        }
    )
    shown.index = pd.Index(frame["content_hash"])
    return shown


def changes_of(row: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields in which what was given differs from a run; emptied ones are None."""
    changes = {}
    for name, value in given.items():
        before = None if pd.isna(row[name]) else row[name]
        after = value.strip() if isinstance(value, str) else value
        if name in TEXTS:
            before, after = before or "", after or ""
        if after != before:
            changes[name] = after
    return changes


def run_title(row: Mapping[str, Any]) -> str:
    """Return what a run is called: model, accelerators, step time."""
    step_s = round_significant(float(row["step_time_s"]))
    return f"{row['model']} on {row['accelerators']:g} × {row['accelerator']}, {step_s:g} s a step"


def edit_words(edit: Edit, titles: Mapping[str, str]) -> str:
    """Return an edit of a run in words."""
    return f"{_ACTIONS[edit.action]} {titles.get(edit.subject, edit.subject[:12])}"


def of_runs(edits: Collection[Edit]) -> list[Edit]:
    """Return the edits of measured runs that still hold."""
    return [one for one in edits if one.action in _ACTIONS and one.undone_at is None]
