"""Which files are of one job: what they say of themselves must fit together."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from advisor.traces.job import Part, says_its_rank, worker_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.traces.trace import Trace

# Profilers slow a run down, and logs average over its evaluations.
_SAME_STEP: Final = 2.0
_VENDORS: Final = re.compile(r"\b(?:nvidia|tesla|amd|instinct)\b[\s-]*", re.IGNORECASE)
# What the handler of the PyTorch profiler calls a file: worker, time, suffix.
_HANDLER: Final = re.compile(r"(.+)\.\d{10,}\.pt\.trace\.json(?:\.gz)?\Z")


def one_job(parts: Sequence[Part]) -> bool:
    """Tell whether files describe one job.

    Files that each show one process belong together if they agree in format, accelerator and
    size of the job, and are of different processes, or of several recordings of the same ones.
    Other files belong together if no two of a format have numbers, and neither the step times
    nor the accelerators contradict each other.
    """
    ranked = [part for part in parts if part.trace.ranks]
    others = [part for part in parts if not part.trace.ranks]
    return _one_set_of_ranks(ranked) and _complete_each_other(ranked[:1] + others)


def by_folder(parts: Iterable[Part]) -> list[list[Part]]:
    """Return the files of each folder, in the order in which the folders come first."""
    groups: dict[PurePosixPath, list[Part]] = {}
    for part in parts:
        groups.setdefault(_folder(part), []).append(part)
    return list(groups.values())


def _folder(part: Part) -> PurePosixPath:
    return PurePosixPath(part.name.replace("\\", "/")).parent


def _one_set_of_ranks(parts: Sequence[Part]) -> bool:
    traces = [part.trace for part in parts]
    if len({trace.format for trace in traces}) > 1 or not _same_device(traces):
        return False
    if len({trace.gpus for trace in traces if trace.gpus is not None}) > 1:
        return False
    if all(says_its_rank(trace) for trace in traces):
        numbers = [trace.ranks[0].rank for trace in traces]
        if len(set(numbers)) == len(numbers):
            return True
        # Ranks 0 to 7 in each of two folders are two jobs; twice in one, two recordings.
        return len({_folder(part) for part in parts}) == 1 and _recorded_again(parts)
    named = [worker_number(part.name) for part in parts]
    if None not in named and len(set(named)) == len(parts):
        return True
    return len(parts) <= 1 or _of_the_handler(parts)


def _recorded_again(parts: Sequence[Part]) -> bool:
    return any((part.trace.gpus or 0) > 1 for part in parts) or _of_the_handler(parts)


def _of_the_handler(parts: Sequence[Part]) -> bool:
    """Tell whether the profiler named the files itself: a folder of such files is one run."""
    names = [PurePosixPath(part.name.replace("\\", "/")).name for part in parts]
    return len({_folder(part) for part in parts}) == 1 and all(map(_HANDLER.match, names))


def _complete_each_other(parts: Sequence[Part]) -> bool:
    measured = [part.trace for part in parts if part.trace.is_measured]
    if len({trace.format for trace in measured}) < len(measured):
        return False
    times = [trace.step_time_s for trace in measured if trace.step_time_s is not None]
    if times and max(times) > _SAME_STEP * min(times):
        return False
    return _same_device([part.trace for part in parts])


def _same_device(traces: Iterable[Trace]) -> bool:
    """Tell whether the accelerators may be the same; one name may be part of another."""
    names = {_VENDORS.sub("", trace.gpu_name).lower() for trace in traces if trace.gpu_name}
    longest = max(names, key=len, default="")
    return all(name in longest for name in names)
