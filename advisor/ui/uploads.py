"""Uploaded files of a session: read in the background, watched, and what each holds.

A file is read as a stream and then given back to the memory; the session keeps what it says.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from advisor.core.units import MIB, number
from advisor.ui.dropped_ranks import with_jobs
from advisor.ui.reads import READS, Read, Upload
from advisor.ui.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamlit.runtime.uploaded_file_manager import UploadedFile

UPLOADS: Final = "uploads"
POSTED: Final = "read"
"""In the address: a file that came over HTTP and is read, or was."""
_READING: Final = "reading"
_BATCHES: Final = "upload_batches"
_LOST: Final = "reading_lost"
# Most files are read before anybody could look at a bar.
_QUICK_S: Final = 0.3
_REDRAW_S: Final = 0.15
# Files that are ready are not held back by a long one for longer than this.
_PATIENCE_S: Final = 5.0
_POLL_S: Final = 0.5
_MOST_SHOWN: Final = 6

Pending = list[tuple[int, Read]]


def uploads() -> list[Upload]:
    """Return the files of the session that were read, in the order in which they came."""
    return list(st.session_state.get(UPLOADS, ()))


def drop(number: int) -> None:
    """Take a file from the list (a callback); what was kept of it stays in the store."""
    st.session_state[UPLOADS] = [one for one in uploads() if one.number != number]


def drop_all() -> None:
    """Empty the list (a callback)."""
    st.session_state[UPLOADS] = []


def cancel(numbers: Sequence[int]) -> None:
    """End the reads of files (a callback)."""
    ended = [(number_of, read) for number_of, read in _pending() if number_of in numbers]
    for _, read in ended:
        read.cancel()
    _let_go(ended)


def drop_zone() -> st.delta_generator.DeltaGenerator:
    """Draw the field for files, have what was dropped read, and empty it for the next ones.

    Returns the place of the bars that `watch` draws.
    """
    _take_posted()
    batch = st.session_state.setdefault("upload_batch", 0)
    files = st.file_uploader(
        "Traces, profiles and logs of your runs", accept_multiple_files=True,
        key=f"files_{batch}",
        help="PyTorch profiler, Nsight, TensorBoard, DeepSpeed, Megatron, a CSV of runs and "
             "others, gzipped or not; recognised by content. Ranks of one job: together, or as "
             "one .zip or .tar.gz. Larger than 1 GB: over HTTP, see docs/traces.",
    )  # fmt: skip
    if files:
        for file in files:
            _begin(READS.start(file, file.name, file.size))
            _release(file)
        st.session_state["upload_batch"] = batch + 1
        st.rerun()
    if st.session_state.pop(_LOST, False):
        st.warning("The file of this address is not known any more: what was read of it is held "
                   "for an hour. Send it again.", icon=":material/history:")  # fmt: skip
    return st.container(key="reading")


def watch(place: st.delta_generator.DeltaGenerator) -> None:
    """Follow the files that are read; to be called when the page is drawn.

    Most are read before anybody could look. Longer ones are followed by a fragment, so that all
    of the page stays usable.
    """
    slot, bars = place.empty(), None
    while pending := _pending():
        waited_s = time.monotonic() - max(read.begun_s for _, read in pending)
        _take_over_ended(pending, patient=waited_s < _PATIENCE_S)
        if waited_s > _PATIENCE_S:
            slot.empty()
            with place:
                _follow()
            return
        if bars is None and waited_s > _QUICK_S:
            bars = _draw(slot.container(), pending, "")
        for number_of, bar in (bars or {}).items():
            bar.progress(*_progress(dict(pending)[number_of]))
        time.sleep(_REDRAW_S if bars else 0.02)


@st.fragment(run_every=_POLL_S)
def _follow() -> None:
    """Draw the bars again and again; draw the page again when files have been read."""
    if pending := _pending():
        _take_over_ended(pending, patient=False)
        _draw(st.container(), pending, "_later")
    else:
        st.rerun()


def _take_over_ended(pending: Pending, *, patient: bool) -> None:
    """Put on the list what was read, and draw the page again; the patient wait for all files."""
    over = [(number_of, read) for number_of, read in pending if read.has_ended]
    if len(over) == len(pending) or (over and not patient):
        batches = st.session_state.get(_BATCHES, {})
        found = [
            replace(read.upload, number=number_of, batch=batches.get(number_of))
            for number_of, read in over
            if read.upload is not None
        ]
        st.session_state[UPLOADS] = with_jobs([*uploads(), *found])
        _let_go(over)
        st.rerun()


def _draw(
    place: st.delta_generator.DeltaGenerator, pending: Pending, suffix: str
) -> dict[int, st.delta_generator.DeltaGenerator]:
    """Draw bars of the first files, each with what ends its read; return the bars by file."""
    shown, bars = pending[:_MOST_SHOWN], {}
    for number_of, read in shown:
        row = place.container(horizontal=True, vertical_alignment="bottom", gap="small")
        bars[number_of] = row.progress(*_progress(read))
        row.button("Cancel", key=f"cancel_{number_of}{suffix}", icon=":material/close:",
                   on_click=cancel, args=((number_of,),))  # fmt: skip
    if len(pending) > 1:
        row = place.container(horizontal=True, vertical_alignment="center", gap="small")
        more = len(pending) - len(shown)
        row.markdown(f":gray[and {more:,} more]" if more else "", width="stretch")
        row.button("Cancel all", key=f"cancel_all{suffix}", type="tertiary", on_click=cancel,
                   args=(tuple(number_of for number_of, _ in pending),))  # fmt: skip
    return bars


def _progress(read: Read) -> tuple[float, str]:
    """Return how far a read is, as a share and in words.

    >>> read = Read("trace.json", 2 * MIB)
    >>> _progress(read)[1]
    'trace.json: waits, 2.00 MiB'
    >>> read.state, read.done_bytes, read.steps = "reading", MIB, 3
    >>> _progress(read)
    (0.5, 'trace.json: 1.00 of 2.00 MiB, 3 steps')
    """
    size = f"{number(read.all_bytes / MIB)} MiB"
    if read.state == "waiting":
        return 0.0, f"{plain(read.name)}: waits, {size}"
    share = min(read.done_bytes / max(read.all_bytes, 1), 1.0)
    steps = f", {read.steps:,} step{'s' * (read.steps != 1)}" if read.steps else ""
    return share, f"{plain(read.name)}: {number(read.done_bytes / MIB)} of {size}{steps}"


def _begin(read: Read) -> None:
    count = st.session_state.get("upload_count", 0)
    st.session_state["upload_count"] = count + 1
    batch = st.session_state.get("upload_batch", 0)
    st.session_state[_BATCHES] = st.session_state.get(_BATCHES, {}) | {count: batch}
    st.session_state[_READING] = [*_reading(), (count, read.key)]


def _take_posted() -> None:
    """Take over what came over HTTP and is named in the address, once."""
    for key in st.query_params.get_all(POSTED):
        read = READS.get(key)
        if read is None:
            st.session_state[_LOST] = True
        elif key not in (known for _, known in _reading()):
            _begin(read)
    if POSTED in st.query_params:
        del st.query_params[POSTED]


def _let_go(pending: Pending) -> None:
    """Follow these reads no longer."""
    numbers = {number_of for number_of, _ in pending}
    st.session_state[_READING] = [one for one in _reading() if one[0] not in numbers]
    for _, read in pending:
        READS.hand_over(read)


def _reading() -> list[tuple[int, str]]:
    return list(st.session_state.get(_READING, ()))


def _pending() -> Pending:
    """Return the files of the session that are read; those that are long over are forgotten."""
    known = [(number_of, key, READS.get(key)) for number_of, key in _reading()]
    st.session_state[_READING] = [(n, key) for n, key, read in known if read is not None]
    return [(number_of, read) for number_of, _, read in known if read is not None]


def _release(file: UploadedFile) -> None:
    """Have Streamlit let go of a file, which would hold it as long as the session."""
    context = get_script_run_ctx()
    if context is not None and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)
