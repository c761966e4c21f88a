"""Files that are being read in the background, for the pages and for the interface over HTTP.

A file is held as long as it is read and by no name: it is gone from memory or disk at the end,
however that comes. What was read of it is held until it is asked for, for an hour at most.
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Final, Literal

from advisor.advice.diagnosis import Finding, diagnose
from advisor.core.errors import TraceError
from advisor.traces import Trace, read_all
from advisor.traces.guesses import Guesses, guess
from advisor.traces.job import Part
from advisor.traces.watching import ReadCancelledError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.traces.streams import Progress

State = Literal["waiting", "reading", "done", "failed", "cancelled"]
LONGEST_NAME: Final = 80
# Reading is one thread's work; more at once would only take turns.
AT_ONCE: Final = 2
MOST_HELD: Final = 256
HELD_S: Final = 3600.0
_LOOK_S: Final = 0.2
_NO_GUESSES: Final = Guesses()


@dataclass(frozen=True, slots=True)
class Upload:
    """One file: the runs that it holds, or the error that kept it from being read.

    ``number`` counts the files of a session, ``batch`` the times when some came together;
    ``parts`` are the files of which this one was made. ``findings`` and ``guesses`` are of the
    only run of a file; a table of several has none.
    """

    number: int
    name: str
    traces: tuple[Trace, ...] = ()
    findings: tuple[Finding, ...] = ()
    guesses: Guesses = _NO_GUESSES
    error: TraceError | None = None
    batch: int | None = None
    parts: tuple[Part, ...] = ()


def read_upload(file: IO[bytes], name: str, order: int, progress: Progress | None = None) -> Upload:
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
        Called with the bytes read so far and all of them; what it raises ends the read.
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


@dataclass(slots=True, eq=False)
class Read:
    """A file that waits, is read, or was; the thread that reads it writes, others look.

    Attributes
    ----------
    key : str
        Not to be guessed: who knows it may see and end the read.
    done_bytes, all_bytes : int
        Of the file as it came. A file may be read twice, once to find out its format.
    steps : int
        Training steps seen so far, in formats that mark them.
    shared : bool
        Whether others than one session may ask for it: it stays when a page has taken it over.
    begun_s, ended_s : float
        On the clock ``time.monotonic`` [s].
    upload : Upload or None
        What was read, once ``state`` is done or failed.
    """

    name: str
    all_bytes: int
    shared: bool = False
    key: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    state: State = "waiting"
    done_bytes: int = 0
    steps: int = 0
    upload: Upload | None = None
    begun_s: float = field(default_factory=time.monotonic)
    ended_s: float | None = None
    _cancelled: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def has_ended(self) -> bool:
        """Whether nothing of the file is read any more."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def is_cancelled(self) -> bool:
        """Whether it is to end."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Have the read end as soon as it looks; one that has ended stays as it is."""
        self._cancelled.set()

    def wait(self, seconds: float) -> bool:
        """Wait until it has ended, so many seconds [s] at most; tell whether it has."""
        return self._ended.wait(seconds)

    def run(self, file: IO[bytes]) -> None:
        """Read the file and close it."""
        try:
            self.state = "reading"
            self._look()
            upload = read_upload(file, self.name, 0, _Watch(self))
            self._look()
            self.upload = upload
            self._end("failed" if upload.error else "done")
        except ReadCancelledError:
            self._end("cancelled")
        finally:
            file.close()
            if not self.has_ended:  # a mistake of ours is no reason to wait for ever
                self.upload = Upload(0, self.name, error=TraceError(
                    "the file could not be read: a mistake of the advisor.", where=self.name,
                    todo="Please report it with the file."))  # fmt: skip
                self._end("failed")

    def _look(self) -> None:
        if self.is_cancelled:
            raise ReadCancelledError("the read was cancelled.", where=self.name)

    def _end(self, state: State) -> None:
        self.state, self.ended_s = state, time.monotonic()
        self._ended.set()


class _Watch:
    """Writes how far a read is, and ends it when that is wanted."""

    def __init__(self, read: Read) -> None:
        self._read = read

    def __call__(self, done_bytes: int, all_bytes: int) -> None:
        self._read.done_bytes, self._read.all_bytes = done_bytes, all_bytes
        self._read._look()  # noqa: SLF001 - its own

    def steps(self, count: int) -> None:
        self._read.steps = count


class Reads:
    """The reads of a server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places = threading.Semaphore(AT_ONCE)
        self._reads: dict[str, Read] = {}
        self._coming = 0

    def start(self, file: IO[bytes], name: str, size_bytes: int, *, shared: bool = False) -> Read:
        """Begin to read a file in the background; it is closed when it is no longer needed."""
        read = Read(file_name(name), size_bytes, shared)
        with self._lock:
            self._forget_old()
            self._reads[read.key] = read
        # Ends with the server, whatever it reads.
        threading.Thread(target=self._in_turn, args=(read, file), daemon=True).start()
        return read

    def get(self, key: str) -> Read | None:
        """Return a read, None if it is not known or long over."""
        with self._lock:
            self._forget_old()
            return self._reads.get(key)

    @property
    def waiting(self) -> int:
        """How many files come in, wait or are read."""
        with self._lock:
            return self._coming + sum(not read.has_ended for read in self._reads.values())

    @contextmanager
    def coming(self) -> Iterator[None]:
        """Count a file as one that waits while it comes in: it takes room already."""
        with self._lock:
            self._coming += 1
        try:
            yield
        finally:
            with self._lock:
                self._coming -= 1

    def hand_over(self, read: Read) -> None:
        """Forget a read that a session has taken over, unless others may ask for it."""
        if not read.shared:
            self.drop(read.key)

    def drop(self, key: str) -> None:
        """End a read, and forget what was read."""
        with self._lock:
            read = self._reads.pop(key, None)
        if read is not None:
            read.cancel()

    def _in_turn(self, read: Read, file: IO[bytes]) -> None:
        while not self._places.acquire(timeout=_LOOK_S):
            if read.is_cancelled:  # its file does not wait for a place
                read.run(file)
                return
        try:
            read.run(file)
        finally:
            self._places.release()

    def _forget_old(self) -> None:
        now = time.monotonic()
        over = [r for r in self._reads.values() if r.ended_s is not None]
        over.sort(key=lambda read: read.ended_s or 0.0)
        too_many = max(0, len(self._reads) - MOST_HELD)
        for number, read in enumerate(over):
            if number < too_many or now - (read.ended_s or now) > HELD_S:
                del self._reads[read.key]


READS: Final = Reads()
