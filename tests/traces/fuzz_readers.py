"""Feed every reader spoilt files, each for a while; docs/traces/README.md shows the command.

Each reader gets its own time. A crash, more than 2 s of CPU time for one file below 1 MB, or more
than 1 GB of memory ends the run with the seed of the file.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import signal
import sys
import time
from pathlib import Path
from typing import Final

from trace_examples import EXAMPLES

from advisor.advice.diagnosis import diagnose
from advisor.core.errors import TraceError
from advisor.traces import READERS, Limits
from advisor.traces.guesses import guess
from advisor.traces.source import source_of

MOST_S: Final = 2.0
MOST_BYTES: Final = 10**9
LARGEST: Final = 10**6
_STATUS: Final = Path("/proc/self/status")
_PEAK_RESET: Final = Path("/proc/self/clear_refs")
LIMITS: Final = Limits(content_bytes=10_000_000)
TOKENS: Final = (
    *(b"NaN", b"-1", b"0", b"1e308", b"9" * 25, b"null", b'""', b"[]", b"{}", b'"', b"\\"),
    *(b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r", b"\0", b"\xff", b"|", b" ", b"=", b"\x1b["),
)


def spoilt(data: bytes, chance: random.Random) -> bytes:
    """Return a file with some changes, now and then made long by repeating a part."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at, span = chance.randint(0, len(out)), chance.choice((0, 1, 2, 5, 20, 200))
        kind = chance.random()
        if kind < 0.5:
            out[at : at + span] = chance.choice(TOKENS)
        elif kind < 0.7:
            del out[at : at + span]
        elif kind < 0.97:
            out[at:at] = out[at : at + span] * chance.randint(1, 5)
        else:
            out[at:at] = out[at : at + span] * chance.randint(1, 1 + LARGEST // (span + 1))
    return bytes(out[:LARGEST])


class TooLongError(BaseException):
    """A reader is stopped wherever it is; no reader may catch this."""


def _stop(*_: object) -> None:
    raise TooLongError


def _held_bytes(field: str) -> int | None:
    """Return a figure of the process's memory, or None where the system does not tell it."""
    if not _STATUS.exists():
        return None
    found = re.search(rf"^{field}:\s*(\d+) kB", _STATUS.read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def _begin_measuring() -> int | None:
    """Forget the peak of earlier files and return what the process holds now."""
    # 5 sets the peak back to the present size: else a large file would hide all later ones.
    with contextlib.suppress(OSError):
        _PEAK_RESET.write_text("5")
    return _held_bytes("VmRSS")


def _grown_bytes(before_bytes: int | None) -> int:
    """Return by how much the process grew at most since then; 0 where that cannot be told."""
    peak_bytes = _held_bytes("VmHWM")
    return peak_bytes - before_bytes if peak_bytes and before_bytes else 0


def read_once(name: str, seed: int) -> float:
    """Read one spoilt file and return the CPU time it took [s].

    Raises
    ------
    RuntimeError
        If the file crashed the reader, took too long or too much memory.
    """
    data = spoilt(EXAMPLES[name], random.Random(seed))  # noqa: S311 - nothing secret
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, 2 * MOST_S)
    begin, before_bytes = time.process_time(), _begin_measuring()
    try:
        source = source_of(data, "fuzzed", LIMITS)
        if READERS[name].sniff(source.head):
            trace = READERS[name].read(source)
            json.dumps(trace.to_dict(), allow_nan=False)
            diagnose(trace)
            guess(trace)
    except TraceError:
        pass
    except (Exception, TooLongError) as error:
        raise RuntimeError(f"{name}, seed {seed}: {type(error).__name__}: {error}") from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    took_s = time.process_time() - begin
    grown_bytes = _grown_bytes(before_bytes)
    if took_s > MOST_S or grown_bytes > MOST_BYTES:
        raise RuntimeError(f"{name}, seed {seed}: {took_s:.1f} s, {grown_bytes / 1e6:.0f} MB more")
    return took_s


def fuzz(name: str, seconds: float, first: int = 0) -> tuple[int, float]:
    """Return how many files were read in this time, and the longest CPU time of one [s]."""
    end, longest_s, seed = time.monotonic() + seconds, 0.0, first
    while time.monotonic() < end:
        longest_s = max(longest_s, read_once(name, seed))
        seed += 1
    return seed - first, longest_s


def main() -> int:
    """Fuzz the readers one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0, help="time of each reader")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("readers", nargs="*", default=list(READERS), help="names; all if none")
    options = parser.parse_args()
    for name in options.readers:
        count, longest_s = fuzz(name, options.seconds, options.seed)
        sys.stdout.write(f"{name}: {count:,} files, longest {longest_s:.2f} s\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
