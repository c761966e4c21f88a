"""Reading bytes within limits: plain or gzip, never all at once."""

from __future__ import annotations

import codecs
import io
import zlib
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Final, Protocol

from advisor.core.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.traces.limits import Limits

BLOCK_BYTES: Final = 2**19
GZIP_MAGIC: Final = b"\x1f\x8b"
UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_INPUT_BYTES: Final = 2**18


Progress = Callable[[int, int], None]


class Readable(Protocol):
    """Anything that gives bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes, fewer only at the end."""


class Budget:
    """Counts the content of an upload, shared by all its layers and members."""

    def __init__(self, limits: Limits, name: str) -> None:
        self.limits = limits
        self.name = name
        self.content_bytes = 0

    def spend(self, content_bytes: int) -> None:
        """Count content.

        Raises
        ------
        TraceError
            If the upload is larger than the limit.
        """
        self.content_bytes += content_bytes
        if self.content_bytes > self.limits.content_bytes:
            raise TraceError(
                f"more than {self.limits.content_bytes / 1e9:g} GB of content.",
                where=self.name,
                todo="Record fewer steps (three to five are enough), without stacks and shapes.",
            )


class PlainStream:
    """Uncompressed bytes, counted."""

    def __init__(self, raw: Readable, budget: Budget) -> None:
        self._raw = raw
        self._budget = budget
        self.cut_off = False

    def read(self, size: int = BLOCK_BYTES) -> bytes:
        """Return up to `size` bytes, fewer only at the end."""
        data = self._raw.read(size)
        self._budget.spend(len(data))
        return data


class GzipStream:
    """The content of a gzip file of one or several members.

    A file that ends early gives what there is and sets `cut_off`.
    """

    def __init__(self, raw: Readable, budget: Budget) -> None:
        self._raw = raw
        self._budget = budget
        self._inflate = zlib.decompressobj(wbits=31)
        self._pending = b""
        self._input_bytes = 0
        self._content_bytes = 0
        self._started = False
        self.cut_off = False

    def read(self, size: int = BLOCK_BYTES) -> bytes:
        """Return up to `size` bytes, fewer only at the end.

        Raises
        ------
        TraceError
            If the file is damaged or a decompression bomb.
        """
        parts: list[bytes] = []
        missing = size
        while missing > 0:
            data = self._some(missing)
            if not data:
                break
            parts.append(data)
            missing -= len(data)
        return b"".join(parts)

    def _some(self, most: int) -> bytes:
        """Return 1 to `most` bytes, none at the end."""
        while True:
            if not self._pending:
                self._pending = self._raw.read(_INPUT_BYTES)
                self._input_bytes += len(self._pending)
                if not self._pending:
                    self.cut_off = self._started and not self._inflate.eof
                    return b""
            if self._inflate.eof and not self._next_member():
                return b""
            self._started = True
            try:
                data = self._inflate.decompress(self._pending, most)
            except zlib.error as error:
                raise self._damaged(str(error)) from None
            self._pending = self._inflate.unconsumed_tail or self._inflate.unused_data
            if data:
                self._count(len(data))
                return data

    def _next_member(self) -> bool:
        """Begin another gzip member; anything else behind the last one is padding."""
        if not self._pending.startswith(GZIP_MAGIC):
            self._pending = b""
            return False
        self._inflate = zlib.decompressobj(wbits=31)
        return True

    def _count(self, content_bytes: int) -> None:
        self._content_bytes += content_bytes
        self._budget.spend(content_bytes)
        limits = self._budget.limits
        if (
            self._content_bytes > limits.ratio_from_bytes
            and self._content_bytes > limits.ratio * self._input_bytes
        ):
            raise TraceError(
                f"compressed more than {limits.ratio}:1, which no trace is; refused.",
                where=self._budget.name,
                todo="Upload the file that the profiler wrote.",
            )

    def _damaged(self, detail: str) -> TraceError:
        return TraceError(
            f"the gzip data is damaged after {self._content_bytes:,} bytes of content ({detail}).",
            where=self._budget.name,
            todo="Copy the file again from where it was recorded.",
        )


class Watched:
    """A file that tells how far it was read."""

    def __init__(self, raw: IO[bytes], progress: Progress) -> None:
        self._raw = raw
        self._progress = progress
        self._all_bytes = raw.seek(0, io.SEEK_END)
        raw.seek(0)
        self._done_bytes = 0

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes, fewer only at the end."""
        data = self._raw.read(size)
        self._done_bytes += len(data)
        self._progress(self._done_bytes, self._all_bytes)
        return data


class Utf16Stream:
    """UTF-16 text as UTF-8: what a terminal of Windows writes when output goes to a file."""

    def __init__(self, below: Readable) -> None:
        self._below = below
        self._decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
        self._pending = b""
        self._ended = False
        self.cut_off = False

    def read(self, size: int = BLOCK_BYTES) -> bytes:
        """Return up to `size` bytes, fewer only at the end."""
        while len(self._pending) < size and not self._ended:
            data = self._below.read(size)
            self._ended = not data
            self._pending += self._decoder.decode(data, final=self._ended).encode()
        data, self._pending = self._pending[:size], self._pending[size:]
        return data


Stream = PlainStream | GzipStream | Utf16Stream


def blocks(stream: Stream, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Yield the content in blocks."""
    while data := stream.read(size):
        yield data
