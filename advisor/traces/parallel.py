"""Files of one job read side by side, each in a process that reads one after the other.

The processes are programs of their own, not copies of this one: that works under any server and in
any script, and a file that brings a process down takes none of this one with it. Answers come in
the order of the files, so that the result is that of reading them one by one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Self

from advisor.core.errors import TraceError
from advisor.core.paths import TABLES_DIR
from advisor.traces.streams import GZIP_MAGIC
from advisor.traces.trace import CutOffError, Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType

    from advisor.traces.limits import Limits
    from advisor.traces.streams import Progress

_COMMAND: Final = (sys.executable, "-m", "advisor.traces.worker")
_PULSE_S: Final = 0.2
# Profiler traces shrink to about this part when they are compressed.
COMPRESSED: Final = 8
_ZIPPED: Final = (GZIP_MAGIC, b"PK\x03\x04")


@dataclass(frozen=True, slots=True)
class Task:
    """A file to read; `progress` is told when it has been read."""

    path: Path
    name: str
    is_member: bool = False
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a file says, or why it cannot be read; and the content of a compressed member."""

    task: Task
    trace: Trace | None = None
    error: TraceError | None = None
    content_bytes: int = 0


def processes_for(limits: Limits, size_bytes: int) -> int:
    """Return how many processes to read files of this size with; 1 stands for this one.

    One for each processor that this process may use. Each takes a fifth of a second to begin, so
    that short reads are sooner done without.
    """
    if size_bytes < limits.processes_from_bytes:
        return 1
    return max(min(limits.processes, _processors()), 1)


def likely_bytes(files: Iterable[Path]) -> int:
    """Return about how much content files have, which for compressed ones is a guess."""
    return sum(map(_likely_bytes, files))


def _likely_bytes(path: Path) -> int:
    try:
        with path.open("rb") as file:
            size_bytes = os.fstat(file.fileno()).st_size
            return size_bytes * (COMPRESSED if file.read(4).startswith(_ZIPPED) else 1)
    except OSError:  # reading it says what is wrong
        return 0


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def side_by_side(
    tasks: Iterable[Task], processes: int, limits: Limits, pulse: Callable[[], None]
) -> Iterator[Answer]:
    """Yield the answers in the order of the tasks, a few of which are taken ahead.

    Parameters
    ----------
    tasks : iterable of Task
        Taken as processes become free, `processes` ahead at most.
    processes : int
        How many.
    limits : Limits
        Caps on each file.
    pulse : callable
        Called now and then while nothing is ready; what it raises ends all reads.
    """
    waiting: deque[Future[Answer]] = deque()
    with _Workers(processes, limits) as workers, ThreadPoolExecutor(processes) as threads:
        try:
            for task in tasks:
                waiting.append(threads.submit(workers.read, task))
                if len(waiting) > processes:
                    yield _first(waiting, pulse)
            while waiting:
                yield _first(waiting, pulse)
        finally:
            workers.end()  # threads may wait for answers


def _first(waiting: deque[Future[Answer]], pulse: Callable[[], None]) -> Answer:
    future = waiting.popleft()
    while wait([future], timeout=_PULSE_S).not_done:
        pulse()
    return future.result()


class _Workers:
    """Processes that read, each one file at a time."""

    def __init__(self, count: int, limits: Limits) -> None:
        self._limits = asdict(limits)
        self._all = [self._start() for _ in range(count)]
        self._free: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()
        self._ended = False
        for worker in self._all:
            self._free.put(worker)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trail: TracebackType | None,
    ) -> None:
        for worker in self._all:
            worker.kill()
            with suppress(OSError), worker:  # waits for it and closes its pipes
                pass

    def end(self) -> None:
        """Kill the processes: who waits for an answer gets none."""
        self._ended = True
        for worker in self._all:
            worker.kill()

    def read(self, task: Task) -> Answer:
        """Have a free process read a file, and wait for what it says."""
        worker = self._free.get()
        request = {"path": str(task.path.absolute()), "name": task.name}
        said = _ask(worker, request | {"is_member": task.is_member, "limits": self._limits})
        if said is None and not self._ended:
            worker.kill()
            worker = self._start()
            self._all.append(worker)
        self._free.put(worker)
        return _answer(task, said)

    @staticmethod
    def _start() -> subprocess.Popen[str]:
        return subprocess.Popen(  # noqa: S603 - our own
            _COMMAND, cwd=TABLES_DIR.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
        )  # fmt: skip


def _ask(worker: subprocess.Popen[str], request: dict[str, Any]) -> dict[str, Any] | None:
    """Return what a process answers, None where it has ended."""
    if worker.stdin is None or worker.stdout is None:
        return None
    try:
        worker.stdin.write(json.dumps(request) + "\n")
        worker.stdin.flush()
        line = worker.stdout.readline()
        return dict(json.loads(line)) if line else None
    except (OSError, ValueError):
        return None


def _answer(task: Task, said: dict[str, Any] | None) -> Answer:
    if said is None:
        error = TraceError(
            "the process that read the file was ended.",
            where=task.name,
            todo="It may need more memory than there is: record fewer steps.",
        )
        return Answer(task, error=error)
    content_bytes = int(said["content_bytes"])
    if "error" not in said:
        return Answer(task, Trace.model_validate(said["trace"]), content_bytes=content_bytes)
    told = said["error"]
    failed = TraceError(told["what"], where=told["where"], todo=told["todo"])
    if "readable" in said:
        readable = Trace.model_validate(said["readable"])
        failed = CutOffError(told["what"], readable, where=told["where"], todo=told["todo"])
    return Answer(task, error=failed, content_bytes=content_bytes)
