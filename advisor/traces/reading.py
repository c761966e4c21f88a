"""Reading one file, an archive, a folder, or many files of which some may be bad."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, TypeVar

from advisor.core.errors import TraceError
from advisor.traces.archives import files_of, is_tar, is_zip, members, refuse_pickle
from advisor.traces.job import Part, join
from advisor.traces.limits import DEFAULT_LIMITS, Limits
from advisor.traces.reader import TraceReader, find_reader
from advisor.traces.source import Source, source_of
from advisor.traces.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from advisor.traces.streams import Progress

T = TypeVar("T")
File = str | Path | bytes | IO[bytes]

_PICKLE_PROTOCOLS: Final = (b"\x02", b"\x03", b"\x04", b"\x05")
# Several processes of one job in one file.
_PACKED: Final = {"kineto_chrome_trace": "kineto_multi_worker_archive"}


def read(
    file: File,
    name: str = "",
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> Trace:
    """Read a trace or log, an archive of them, or a folder of one job.

    Parameters
    ----------
    file : path, bytes or open binary file
        What to read. Its format is told by its content.
    name : str
        Its name for messages, where `file` has none.
    limits : Limits
        Caps on what it may cost.
    progress : callable, optional
        Called with the bytes of the file read so far and all of them.

    Raises
    ------
    TraceError
        If it cannot be read or is refused.
    """
    if isinstance(file, str | Path) and Path(file).is_dir():
        return read_directory(file, limits=limits)
    source = source_of(file, name, limits, progress)
    if _is_archive(source):
        return _read_archive(source)
    return _guarded(source, _reader(source).read)


def read_all(
    file: File,
    name: str = "",
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> tuple[Trace, ...]:
    """Read a file that may hold several runs, such as a table; other files hold one.

    Parameters as of `read`.

    Raises
    ------
    TraceError
        If it cannot be read or is refused.
    """
    if isinstance(file, str | Path) and Path(file).is_dir():
        return (read_directory(file, limits=limits),)
    source = source_of(file, name, limits, progress)
    if _is_archive(source):
        return (_read_archive(source),)
    reader = _reader(source)
    rows: Callable[[Source], tuple[Trace, ...]] | None = getattr(reader, "read_all", None)
    return (_guarded(source, reader.read),) if rows is None else _guarded(source, rows)


def read_archive(file: File, name: str = "", *, limits: Limits = DEFAULT_LIMITS) -> Trace:
    """Read the files of one job out of a tar, tar.gz or zip archive.

    Raises
    ------
    TraceError
        If it is no archive, cannot be read or is refused.
    """
    source = source_of(file, name, limits)
    if not _is_archive(source):
        raise TraceError(
            "this is no tar or zip archive.", where=source.name, todo="Read it as a single file."
        )
    return _read_archive(source)


def read_directory(folder: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> Trace:
    """Read the files of one job out of a folder; links are not followed.

    Raises
    ------
    TraceError
        If none of the files can be read.
    """
    path = Path(folder)
    results = read_many(files_of(path, limits), limits=limits)
    return _joined(results, path.name)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one of many files: a trace or an error."""

    name: str
    trace: Trace | None = None
    error: TraceError | None = None


def read_many(
    files: Iterable[File | tuple[str, File]], *, limits: Limits = DEFAULT_LIMITS
) -> list[Result]:
    """Read files one by one; a bad one does not keep the others from being read.

    A file may come as a pair of name and file.
    """
    results: list[Result] = []
    for number, item in enumerate(files, start=1):
        name, file = item if isinstance(item, tuple) else ("", item)
        shown = name or (Path(file).name if isinstance(file, str | Path) else f"file {number}")
        try:
            results.append(Result(shown, trace=read(file, shown, limits=limits)))
        except TraceError as error:
            results.append(Result(shown, error=error))
    return results


def _guarded(source: Source, read: Callable[[Source], T]) -> T:
    """Read a file; what a reader stumbles over is the fault of the file, as the user sees it."""
    try:
        return read(source)
    except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise TraceError(
            f"the file holds something unexpected ({type(error).__name__}: {error!s:.80}).",
            where=source.name,
            todo="See that it was written to its end; if so, please report it with the file.",
        ) from error


def _is_archive(source: Source) -> bool:
    return is_tar(source.head) or is_zip(source.head)


def _reader(source: Source) -> type[TraceReader]:
    if _is_archive(source):
        raise TraceError(
            "an archive inside an archive is not read.",
            where=source.name,
            todo="Pack the traces side by side.",
        )
    if source.head[:1] == b"\x80" and source.head[1:2] in _PICKLE_PROTOCOLS:
        raise refuse_pickle(source.name)
    return find_reader(source)


def _read_archive(source: Source) -> Trace:
    results: list[Result] = []
    for member in members(source):
        try:
            results.append(Result(member.name, trace=_guarded(member, _reader(member).read)))
        except TraceError as error:
            results.append(Result(member.name, error=error))
    trace = _joined(results, source.name)
    if len(trace.ranks) > 1:
        return trace.model_copy(update={"format": _PACKED.get(trace.format, trace.format)})
    return trace


def _joined(results: list[Result], where: str) -> Trace:
    parts = [Part(result.name, result.trace) for result in results if result.trace is not None]
    bad = [result for result in results if result.error is not None]
    if not parts and bad and bad[0].error is not None:
        raise bad[0].error
    trace = join(parts, where)
    if not bad:
        return trace
    reasons = "; ".join(dict.fromkeys(result.error.what for result in bad if result.error))
    text = f"Not read: {len(bad)} of {len(results)} files; {reasons}"
    return trace.model_copy(update={"warnings": (*trace.warnings, text)})
