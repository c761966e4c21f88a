"""A Chrome trace as a stream of events: blocks of the file in, batches of typed events out.

A block is cut behind the last event that is whole in it, and what lies before is decoded at once.
Only where that fails, the events are taken one by one and what is broken is mended or left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from advisor.core.errors import TraceError
from advisor.traces.chrome_event import START, Event, closing, decode, mend
from advisor.traces.streams import BLOCK_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.traces.source import Source
    from advisor.traces.streams import Stream

_ARRAY: Final = re.compile(rb'"traceEvents"\s*:\s*\[')
_END: Final = re.compile(rb'(?:\}\s*+(?:,\s*+)?|\A\s*+)(\])\s*+(?=,\s*+"|\}|\Z)')
_ANY_START: Final = re.compile(rb"\}\s*,\s*(?=\{)")
_TAIL_BYTES: Final = 2**16
_FOOTER_BYTES: Final = 2**24
_UNUSUAL_BYTES: Final = 2**23
_MOST_ENDS: Final = 64
_MOST_JOINED: Final = 8
_MOST_ARRAYS: Final = 8


# Gives the events of a piece of the array up to a byte, None where they are not valid.
Decode = Callable[[bytes, int | None], list[Event] | None]


class ChromeTrace:
    """The events of a file and what stands around them.

    `batches` is to be exhausted before the other attributes are used. `decode` may leave out of
    events what a reader does not need.

    Attributes
    ----------
    meta : dict
        Top-level entries beside the events.
    meta_broken : bool
        Whether what stands behind the events is no valid JSON.
    events : int
        Number of events.
    mended, lost : int
        Events that were no valid JSON: those that could be mended, and those left out.
    first_damage : int or None
        Byte of the first of them.
    cut_off : bool
        Whether the file ends within the events.
    """

    def __init__(self, source: Source, decode: Decode = decode) -> None:
        self._source = source
        self._decode = decode
        self.meta: dict[str, Any] = {}
        self.events = 0
        self.mended = 0
        self.lost = 0
        self.first_damage: int | None = None
        self.cut_off = False
        self.meta_broken = False
        self._offset = 0
        self._bare = False

    def batches(self) -> Iterator[list[Event]]:
        """Yield the events in batches.

        Raises
        ------
        TraceError
            If there are no events, too many, or one is too long.
        """
        with self._source.open() as stream:
            rest = self._find_array(stream)
            for batch in self._batches(stream, rest):
                self.events += len(batch)
                if self.events > self._source.limits.events:
                    raise self._too_large("events", self._source.limits.events)
                yield batch

    def _find_array(self, stream: Stream) -> bytes:
        """Read up to the event array, and return what of the array was read with it."""
        data = stream.read()
        opening = data[:_TAIL_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n")
        if opening.startswith(b"["):
            self._bare = True
            return self._from(data, data.index(b"[") + 1)
        while not (found := self._array_in(data)):
            more = stream.read(max(BLOCK_BYTES, len(data)))  # twice as much, not a bit more
            if not more:
                raise TraceError(
                    "there is no list “traceEvents” in this file.",
                    where=self._source.name,
                    todo="Export a Chrome trace from the profiler.",
                )
            data += more
            self._check_length(data)
        return self._from(data, found)

    def _array_in(self, data: bytes) -> int | None:
        """Return where the events begin; the same words inside a text do not close as JSON."""
        for found in islice(_ARRAY.finditer(data), _MOST_ARRAYS):
            meta = _loads(data[: found.start()] + b'"traceEvents":[]}')
            if meta is not None:
                self.meta.update(meta)
                return found.end()
        return None

    def _batches(self, stream: Stream, buffer: bytes) -> Iterator[list[Event]]:
        block, stuck = stream.read(), False
        while block:
            buffer += block
            # The last block is treated apart: it holds the footer.
            block = stream.read(max(BLOCK_BYTES, len(buffer)) if stuck else BLOCK_BYTES)
            cut = _last_start(buffer) if block else None
            stuck = cut is None
            if cut is None:
                self._check_length(buffer)
                continue
            events = self._decode(buffer, cut)
            if events is None and closing(buffer) is not None:
                buffer += block + self._all_of(stream)
                break
            yield self._one_by_one(buffer[:cut]) if events is None else events
            buffer = self._from(buffer, buffer.index(b"{", cut))
        yield self._last_events(buffer)

    def _all_of(self, stream: Stream) -> bytes:
        """Read the rest of the file, in which no events are expected any more."""
        rest = b""
        while more := stream.read():
            rest += more
            if len(rest) > _FOOTER_BYTES:
                raise TraceError(
                    "the trace ends, and much more follows in the same file.",
                    where=f"{self._source.name}, byte {self._offset:,}",
                    todo="See whether the file was written twice, and keep one trace.",
                )
        return rest

    def _last_events(self, buffer: bytes) -> list[Event]:
        end = closing(buffer)
        if end is None:
            end = _end_before_footer(buffer, bare=self._bare)
        if end is None:
            # A bare list may lack its bracket, by the definition of the format.
            self.cut_off = not self._bare or decode(buffer) is None
            return self._one_by_one(buffer, last_is_cut=True)
        self._read_footer(buffer[end + 1 :])
        events = self._decode(buffer, end)
        return self._one_by_one(buffer[:end]) if events is None else events

    def _read_footer(self, footer: bytes) -> None:
        if not footer.strip():
            return  # a bare list
        meta = _loads(b'{"traceEvents":[]' + footer)
        if meta is None:
            self.meta_broken = True
            meta = _loads_first(b'{"traceEvents":[]' + footer)
        self.meta.update(meta)

    def _one_by_one(self, chunk: bytes, *, last_is_cut: bool = False) -> list[Event]:
        """Decode the events of a chunk of which at least one is not valid."""
        starts = [0, *(found.end() for found in START.finditer(chunk))]
        pieces = [chunk[a:b] for a, b in zip(starts, [*starts[1:], len(chunk)], strict=True)]
        events: list[Event] = []
        at = 0
        while at < len(pieces):
            used = self._take(events, pieces, at)
            if used == 0:
                if not (last_is_cut and at == len(pieces) - 1):
                    self._mend(events, pieces[at], starts[at])
                used = 1
            at += used
        return events

    @staticmethod
    def _take(events: list[Event], pieces: list[bytes], at: int) -> int:
        """Decode the event at `at`, and return how many pieces it has; 0 where it is broken.

        An object within an event can look like the start of another event.
        """
        for used in range(1, min(_MOST_JOINED, len(pieces) - at) + 1):
            good = decode(b"".join(pieces[at : at + used]).rstrip().rstrip(b","))
            if good is not None:
                events += good
                return used
        return 0

    def _mend(self, events: list[Event], piece: bytes, at: int) -> None:
        if self.first_damage is None:
            self.first_damage = self._offset + at
        event = mend(piece.rstrip().rstrip(b","))
        if event is None:
            self.lost += 1
        else:
            self.mended += 1
            events.append(event)
        if self.mended + self.lost > self._source.limits.broken_events:
            raise TraceError(
                f"more than {self._source.limits.broken_events:,} events are not valid JSON.",
                where=f"{self._source.name}, first at byte {self.first_damage:,}",
                todo="Record it again with a newer profiler, or mend the file.",
            )

    def _from(self, buffer: bytes, start: int) -> bytes:
        """Drop what is done with, and keep count of where in the file we are."""
        self._offset += start
        return buffer[start:]

    def _check_length(self, buffer: bytes) -> None:
        most = self._source.limits.event_bytes
        if len(buffer) > most:
            raise self._too_large("bytes in one event or header", most)

    def _too_large(self, what: str, most: int) -> TraceError:
        return TraceError(
            f"more than {most:,} {what}.",
            where=f"{self._source.name}, byte {self._offset:,}",
            todo="Record fewer steps; three to five are enough.",
        )


def _last_start(buffer: bytes) -> int | None:
    """Return the end of the last event behind which another one begins."""
    tail = _TAIL_BYTES // 8
    while True:
        at = max(0, len(buffer) - tail)
        starts = [found.start() for found in START.finditer(buffer, at)]
        if starts:
            return starts[-1] + 1
        if at == 0:
            break
        tail *= 8
    # Events of an unusual shape: the decoder tells whether the guess is right.
    starts = [found.start() for found in _ANY_START.finditer(buffer, len(buffer) - _TAIL_BYTES)]
    return starts[-1] + 1 if starts and len(buffer) > _UNUSUAL_BYTES else None


def _end_before_footer(buffer: bytes, *, bare: bool) -> int | None:
    """Return where an array with broken events ends: where what follows closes the file."""
    found: int | None = None
    ends = list(_END.finditer(buffer, max(0, len(buffer) - _FOOTER_BYTES)))
    for end in reversed(ends[-_MOST_ENDS:]):
        footer = buffer[end.end(1) :]
        closes = not footer.strip() if bare else _loads(b'{"traceEvents":[]' + footer) is not None
        found = end.start(1) if closes else found
    return found


def _loads(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text.decode("utf-8-sig", errors="replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _loads_first(text: bytes) -> dict[str, Any]:
    """Return the object at the start of a text, whatever follows it."""
    try:
        found, _ = json.JSONDecoder(strict=False).raw_decode(text.decode(errors="replace"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
