"""From what was read of several files to the runs that they describe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from advisor.core.errors import TraceError
from advisor.traces.grouping import by_folder, one_job
from advisor.traces.job import Part, join
from advisor.traces.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Several processes of one job in one file.
_PACKED: Final = {"kineto_chrome_trace": "kineto_multi_worker_archive"}
_DO_NOT_FIT: Final = (
    "The files do not look like those of one job; what one lacks was taken from another."
)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one of many files, a trace or an error; `packed` if it was in an archive."""

    name: str
    trace: Trace | None = None
    error: TraceError | None = None
    packed: bool = False


def runs_of(results: Sequence[Result], where: str) -> list[Result]:
    """Return the runs that files describe: one if they fit together as one job, else several.

    Where they do not, the files of each folder are looked at in the same way; files that do not
    fit together within their folder are runs of their own. Errors follow unchanged.
    """
    parts = _parts(results)
    if len(parts) > 1 and one_job(parts):
        return [Result(where, trace=joined(results, where)), *errors_of(results)]
    known = {result.name: result for result in results}
    runs: list[Result] = []
    for group in by_folder(parts):
        files = [known[part.name] for part in group]
        if len(files) > 1 and one_job(group):
            folder = group[0].name.rpartition("/")[0] or where
            files = [Result(folder, trace=joined(files, folder))]
        runs += files
    return runs + errors_of(results)


def all_runs(results: Sequence[Result], where: str) -> tuple[Trace, ...]:
    """Return the runs of several files; of several, the first says what could not be read.

    Raises
    ------
    TraceError
        If none of the files can be read.
    """
    found = [one.trace for one in runs_of(results, where) if one.trace is not None]
    if len(found) < 2:  # one run, or none: joining says why
        return (joined(results, where),)
    return (_warned(found[0], _not_read(results)), *found[1:])


def joined(results: Sequence[Result], where: str) -> Trace:
    """Return the one job that files describe together, with a warning if they do not look it.

    Raises
    ------
    TraceError
        If none of the files can be read.
    """
    parts = _parts(results)
    bad = errors_of(results)
    if not parts and bad and bad[0].error is not None:
        raise bad[0].error
    trace = join(parts, where)
    if len(trace.ranks) > 1 and any(result.packed for result in results):
        trace = trace.model_copy(update={"format": _PACKED.get(trace.format, trace.format)})
    odd = () if len(parts) < 2 or one_job(parts) else (_DO_NOT_FIT,)
    return _warned(trace, odd + _not_read(results))


def errors_of(results: Iterable[Result]) -> list[Result]:
    """Return the files that could not be read."""
    return [result for result in results if result.error is not None]


def _parts(results: Iterable[Result]) -> list[Part]:
    return [Part(result.name, result.trace) for result in results if result.trace is not None]


def _not_read(results: Sequence[Result]) -> tuple[str, ...]:
    """Return the warning about files that could not be read, if there are any."""
    errors = [result.error for result in results if result.error is not None]
    reasons = "; ".join(dict.fromkeys(error.what for error in errors))
    return (f"Not read: {len(errors)} of {len(results)} files; {reasons}",) if errors else ()


def _warned(trace: Trace, texts: tuple[str, ...]) -> Trace:
    return trace.model_copy(update={"warnings": trace.warnings + texts}) if texts else trace
