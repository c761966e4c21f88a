"""Uploaded files, read once: what each holds, or why it cannot be read.

A file is read as a stream and then given back to the memory; the session keeps what it says.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from advisor.advice.diagnosis import Finding, diagnose
from advisor.core.errors import TraceError
from advisor.core.units import MIB, number
from advisor.traces import Trace, read_all
from advisor.traces.guesses import Guesses, guess
from advisor.ui.text import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streamlit.runtime.uploaded_file_manager import UploadedFile

UPLOADS: Final = "uploads"
LONGEST_NAME: Final = 80
_REDRAW_S: Final = 0.2
_NO_GUESSES: Final = Guesses()


@dataclass(frozen=True, slots=True)
class Upload:
    """One file: the runs that it holds, or the error that kept it from being read.

    ``number`` counts the files of the session. ``findings`` and ``guesses`` are of the only run
    of a file; a table of several has none.
    """

    number: int
    name: str
    traces: tuple[Trace, ...] = ()
    findings: tuple[Finding, ...] = ()
    guesses: Guesses = _NO_GUESSES
    error: TraceError | None = None


def read_upload(
    file: IO[bytes], name: str, order: int, progress: Callable[[int, int], None] | None = None
) -> Upload:
    """Read one file; what is wrong with it is kept with it, so that others are read all the same.

    Parameters
    ----------
    file : seekable binary file
        Is read as a stream, and never executed or unpickled.
    name : str
        As the browser gives it; only its last part is kept.
    order : int
        Number of the file in the session.
    progress : callable, optional
        Called with the bytes read so far and all of them.
    """
    shown = file_name(name)
    try:
        traces = read_all(file, shown, progress=progress)
    except TraceError as error:
        return Upload(order, shown, error=error)
    if len(traces) > 1:
        return Upload(order, shown, traces)
    return Upload(order, shown, traces, diagnose(traces[0]), guess(traces[0]))


def file_name(name: str) -> str:
    r"""Return the last part of a name that a browser gives.

    >>> file_name("C:\\\\logs\\\\run.log")
    'run.log'
    """
    return re.split(r"[\\/]", name)[-1][-LONGEST_NAME:] or "file"


def uploads() -> list[Upload]:
    """Return the files of the session, in the order in which they came."""
    return list(st.session_state.get(UPLOADS, ()))


def drop(number: int) -> None:
    """Take a file from the list (a callback); what was kept of it stays in the store."""
    st.session_state[UPLOADS] = [one for one in uploads() if one.number != number]


def drop_all() -> None:
    """Empty the list (a callback)."""
    st.session_state[UPLOADS] = []


def drop_zone() -> None:
    """Draw the field for files; read what was dropped, then empty it for the next ones."""
    batch = st.session_state.setdefault("upload_batch", 0)
    files = st.file_uploader(
        "Traces, profiles and logs of your runs", accept_multiple_files=True,
        key=f"files_{batch}",
        help="PyTorch profiler, Nsight, TensorBoard, DeepSpeed, Megatron, a CSV of runs and "
             "others, gzipped or not; recognised by content. Ranks of one job: as one .zip or "
             ".tar.gz.",
    )  # fmt: skip
    if not files:
        return
    before = uploads()
    first = st.session_state.get("upload_count", 0)
    read = _read_files(files, first)
    st.session_state["upload_count"] = first + len(files)
    st.session_state[UPLOADS] = [*before, *read]
    st.session_state["upload_batch"] = batch + 1
    st.rerun()


def _read_files(files: Sequence[UploadedFile], first: int) -> list[Upload]:
    found = []
    with st.status(f"Reading {_counted(len(files))} …", expanded=True) as status:
        bar = st.progress(0.0)
        for index, file in enumerate(files):
            said = f"{plain(file.name[-LONGEST_NAME:])} ({index + 1} of {len(files)})"
            found.append(read_upload(file, file.name, first + index, _watcher(bar, said)))
            _release(file)
        status.update(label=f"Read {_counted(len(files))}", state="complete")
    return found


def _watcher(bar: st.delta_generator.DeltaGenerator, said: str) -> Callable[[int, int], None]:
    """Return what moves the bar, not more often than an eye sees."""
    drawn_s = 0.0

    def progress(done_bytes: int, all_bytes: int) -> None:
        nonlocal drawn_s
        if time.monotonic() - drawn_s < _REDRAW_S:
            return
        drawn_s = time.monotonic()
        # A file may be read twice, once to find out its format.
        share = min(done_bytes / max(all_bytes, 1), 1.0)
        bar.progress(share, text=f"{said}, {number(all_bytes / MIB)} MiB")

    return progress


def _release(file: UploadedFile) -> None:
    """Give the memory of a file back at once: Streamlit would hold it as long as the session."""
    context = get_script_run_ctx()
    if context is not None and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)
    file.close()


def _counted(number_of_files: int) -> str:
    return "one file" if number_of_files == 1 else f"{number_of_files:,} files"
