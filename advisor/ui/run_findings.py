"""What holds an uploaded run up, with what a change would save where the job is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from advisor.advice.remedies import PREDICTED, with_predictions
from advisor.core.errors import AdvisorError
from advisor.ui.run_fields import given_fields, runs_of_upload
from advisor.ui.state import engine
from advisor.ui.text import plain

if TYPE_CHECKING:
    from advisor.advice.finding import Finding
    from advisor.ui.reads import Upload

_CACHE: Final = "predicted_findings"


def show_findings(upload: Upload) -> None:
    """Draw the most severe finding, and the others in an expander."""
    if not upload.findings:
        st.markdown(":gray[The file does not tell what holds the run up.]")
        return
    first, *others = _predicted(upload)
    colour = {"high": "red", "medium": "orange"}.get(first.severity, "blue")
    title = "Bottleneck" if first.severity != "info" else "Good to know"
    st.markdown(f":{colour}-badge[{title}] {plain(first.sentence)} :gray[{plain(first.help)}]")
    if others:
        with st.expander(f"{len(others)} more finding{'s' * (len(others) > 1)}",
                         icon=":material/search:"):  # fmt: skip
            for one in others:
                st.markdown(f"{plain(one.sentence)} :gray[{plain(one.help)}]")


def _predicted(upload: Upload) -> tuple[Finding, ...]:
    """Return the findings with predictions, made once for what the fields say of the run."""
    if not PREDICTED & {finding.kind for finding in upload.findings}:
        return upload.findings
    used = engine()
    try:
        (run,) = runs_of_upload(upload, given_fields(upload), used.catalog)
    except AdvisorError:  # the job is not known yet; the card says what is missing
        return upload.findings
    made = st.session_state.setdefault(_CACHE, {})
    known = (run.content_hash, used.predictor.data_hash)
    if made.get(upload.number, (None,))[0] != known:
        found = with_predictions(upload.findings, upload.traces[0], run, used)
        made[upload.number] = (known, found)
    return tuple(made[upload.number][1])
