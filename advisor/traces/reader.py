"""The contract of a reader, and how the reader of a file is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Protocol

from advisor.core.errors import TraceError
from advisor.core.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.traces.source import Source
    from advisor.traces.trace import Trace


class TraceReader(Protocol):
    """A format of traces or logs. One file per reader in `advisor.traces.readers`.

    A reader of files that hold several runs has a static method ``read_all`` as well, which takes
    a source and returns a tuple of traces.

    Attributes
    ----------
    label : str
        What people call the format.
    anywhere : bool
        Whether what shows the format may come late in a file (logs begin with anything). Such a
        reader is asked about every part of a text, others about its beginning only.
    order : int
        Who reads a file that several readers recognise: the lowest. A Megatron log that goes
        through DeepSpeed has the lines of both.
    """

    label: ClassVar[str]
    anywhere: ClassVar[bool]
    order: ClassVar[int]

    @staticmethod
    def sniff(head: bytes) -> bool:
        """Tell from up to 64 KiB of decompressed content whether this reader can read it."""

    @staticmethod
    def read(source: Source) -> Trace:
        """Read a file in one go, with memory that does not grow with it.

        Raises
        ------
        TraceError
            If the file is broken, empty, or holds no run.
        """


READERS: Final[Registry[type[TraceReader]]] = Registry("trace format", "advisor.traces.readers")


# Closed formats that can only be told by their names.
_KNOWN_BY_NAME: Final = {
    (".nsys-rep", ".qdrep", ".qdstrm"): (
        "a report of Nsight Systems, whose format is closed.",
        "Export it: nsys export --type sqlite report.nsys-rep, and upload the .sqlite file.",
    ),
    (".ncu-rep",): (
        "a report of Nsight Compute: single kernels and not a run.",
        "Record the run with Nsight Systems or the PyTorch profiler.",
    ),
    (".nvvp", ".nvprof"): (
        "a profile of nvprof, which is not read.",
        "Record the run with Nsight Systems or the PyTorch profiler.",
    ),
}


def find_reader(source: Source) -> type[TraceReader]:
    """Return the reader of a file, by its content.

    Raises
    ------
    TraceError
        If the file is empty or nothing recognises it.
    """
    if not source.head:
        what = "the gzip file is cut off before any content." if source.cut_off else "empty file."
        raise TraceError(what, where=source.name, todo="Copy it again from where it was recorded.")
    readers = [READERS[name] for name in READERS]
    found = [reader for reader in readers if reader.sniff(source.head)]
    # Binary files hold zero bytes.
    if not any(not reader.anywhere for reader in found) and b"\0" not in source.head:
        late = [reader for reader in readers if reader.anywhere and reader not in found]
        found += _found_late(source, late)
    if not found:
        raise _unknown(source)
    return min(found, key=lambda reader: reader.order)


def _found_late(source: Source, readers: Iterable[type[TraceReader]]) -> list[type[TraceReader]]:
    left = list(readers)
    found: list[type[TraceReader]] = []
    for window in source.windows():
        found += [reader for reader in left if reader.sniff(window)]
        left = [reader for reader in left if reader not in found]
    return found


def _unknown(source: Source) -> TraceError:
    name = source.name.lower()
    for suffixes, (what, todo) in _KNOWN_BY_NAME.items():
        if name.endswith(suffixes):
            return TraceError(what, where=source.name, todo=todo)
    known = ", ".join(sorted(READERS[name].label for name in READERS))
    return TraceError(
        "this is no trace or log that the advisor knows.",
        where=source.name,
        todo=f"It reads: {known}.",
    )
