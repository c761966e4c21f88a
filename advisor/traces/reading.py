"""Reading one file, an archive, a folder, or many files of which some may be bad."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, TypeVar

from advisor.core.errors import TraceError
from advisor.traces.archives import files_of, is_tar, is_zip, members, refuse_pickle
from advisor.traces.limits import DEFAULT_LIMITS, Limits
from advisor.traces.parallel import COMPRESSED, Task, likely_bytes, processes_for, side_by_side
from advisor.traces.reader import TraceReader, find_reader
from advisor.traces.runs import Result, all_runs, errors_of, joined, runs_of
from advisor.traces.source import Source, source_of
from advisor.traces.streams import Budget
from advisor.traces.trace import Trace
from advisor.traces.watching import Furthest, tell_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from advisor.traces.streams import Progress

T = TypeVar("T")
File = str | Path | bytes | IO[bytes]

_PICKLE_PROTOCOLS: Final = (b"\x02", b"\x03", b"\x04", b"\x05")


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
        Called with the bytes of the file read so far and all of them; what it raises ends the
        read (`advisor.traces.watching.ReadCancelledError`). See `Source` for steps.

    Raises
    ------
    TraceError
        If it cannot be read or is refused.
    """
    if isinstance(file, str | Path) and Path(file).is_dir():
        return read_directory(file, limits=limits)
    source = source_of(file, name, limits, progress)
    if _is_archive(source):
        return joined(_of_archive(source), source.name)
    return read_member(source)


def read_all(
    file: File,
    name: str = "",
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> tuple[Trace, ...]:
    """Read a file that may hold several runs: a table, or files that are not of one job.

    Parameters as of `read`.

    Raises
    ------
    TraceError
        If it cannot be read or is refused.
    """
    if isinstance(file, str | Path) and Path(file).is_dir():
        return all_runs(_of_folder(Path(file), limits), Path(file).name)
    source = source_of(file, name, limits, progress)
    if _is_archive(source):
        return all_runs(_of_archive(source), source.name)
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
    return joined(_of_archive(source), source.name)


def read_directory(folder: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> Trace:
    """Read the files of one job out of a folder; links are not followed.

    Raises
    ------
    TraceError
        If none of the files can be read.
    """
    path = Path(folder)
    return joined(_of_folder(path, limits), path.name)


def read_runs(
    file: File,
    name: str = "",
    *,
    as_one: bool | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> list[Result]:
    """Read a file, or the files of a folder or archive, as the runs that they describe.

    Parameters
    ----------
    file : path, bytes or open binary file
        What to read.
    name : str
        Its name for messages, where `file` has none.
    as_one : bool, optional
        Whether several files are one job. By default those are that fit together
        (`advisor.traces.runs.runs_of`).
    limits : Limits
        Caps on what it may cost.

    Returns
    -------
    list of Result
        The runs, then the files that could not be read.

    Raises
    ------
    TraceError
        If a folder holds no files, an archive is damaged or refused, or a single file cannot be
        read.
    """
    if isinstance(file, str | Path) and Path(file).is_dir():
        where, results = Path(file).name, _of_folder(Path(file), limits)
    else:
        source = source_of(file, name, limits)
        if not _is_archive(source):
            return [Result(source.name, trace=read_member(source))]
        where, results = source.name, _of_archive(source)
    if as_one is False:
        return results
    if as_one:
        return [Result(where, trace=joined(results, where)), *errors_of(results)]
    return runs_of(results, where)


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


def read_member(source: Source) -> Trace:
    """Read a file that may not be an archive.

    Raises
    ------
    TraceError
        If it is one, cannot be read or is refused.
    """
    return _guarded(source, _reader(source).read)


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


def _of_folder(folder: Path, limits: Limits) -> list[Result]:
    files = files_of(folder, limits)
    named = [(file.relative_to(folder).as_posix(), file) for file in files]
    processes = min(processes_for(limits, likely_bytes(files)), len(files))
    if processes == 1:
        return read_many(named, limits=limits)
    tasks = (Task(file, name) for name, file in named)
    answers = side_by_side(tasks, processes, limits, lambda: None)
    return [Result(one.task.name, trace=one.trace, error=one.error) for one in answers]


def _of_archive(source: Source) -> list[Result]:
    packed = 1 if is_tar(source.head) and not source.compressions else COMPRESSED
    processes = processes_for(source.limits, packed * source.size_bytes)
    if processes > 1:
        return _side_by_side(source, processes)
    results: list[Result] = []
    for member in members(source):
        try:
            results.append(Result(member.path, trace=read_member(member), packed=True))
        except TraceError as error:
            results.append(Result(member.path, error=error))
    return results


def _side_by_side(source: Source, processes: int) -> list[Result]:
    """Read the members of an archive in several processes, which need copies of them."""
    budget = Budget(source.limits, source.name)
    watched = None if source.progress is None else Furthest(source.progress)
    source.progress = watched
    results: list[Result] = []

    def tasks(folder: Path) -> Iterator[Task]:
        for number, member in enumerate(members(source)):
            path = folder / str(number)
            member.copy_to(path)
            yield Task(path, member.path, is_member=True, progress=member.progress)

    with tempfile.TemporaryDirectory(prefix="advisor-trace-") as folder:
        pulse = watched.again if watched is not None else lambda: None
        for one in side_by_side(tasks(Path(folder)), processes, source.limits, pulse):
            one.task.path.unlink()
            budget.spend(one.content_bytes)
            if one.task.progress is not None:
                one.task.progress(1, 1)
                tell_steps(one.task.progress, (one.trace and one.trace.steps) or 0)
            packed = one.trace is not None
            results.append(Result(one.task.name, one.trace, one.error, packed=packed))
    return results
