"""An uploaded file: opened as often as needed, decompressed within limits, never executed."""

from __future__ import annotations

import codecs
import io
import re
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from advisor.core.errors import TraceError
from advisor.traces.limits import DEFAULT_LIMITS, Limits
from advisor.traces.streams import (
    BLOCK_BYTES,
    GZIP_MAGIC,
    UTF16_MARKS,
    Budget,
    GzipStream,
    PlainStream,
    Progress,
    Readable,
    Stream,
    Utf16Stream,
    Watched,
    blocks,
)
from advisor.traces.watching import Portion, tell_steps

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD_BYTES: Final = 2**16
_SPOOL_BYTES: Final = 16 * 2**20
_COLOUR: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OTHER_COMPRESSION: Final = {
    b"\x28\xb5\x2f\xfd": "zstandard",
    b"\xfd7zXZ\x00": "xz",
    b"BZh": "bzip2",
    b"\x04\x22\x4d\x18": "lz4",
    b"7z\xbc\xaf\x27\x1c": "7-zip",
    b"Rar!": "RAR",
}


class Source:
    """A file to be read.

    Parameters
    ----------
    raw : Path or binary file
        A path, or a seekable file that stays open as long as the source is used.
    name : str
        Name for messages; only its last part is kept.
    limits : Limits
        Caps.
    progress : callable, optional
        Called with the bytes of the file read so far and all of them. One that has a method
        ``steps`` is told how many steps were seen, by readers that count them.

    Attributes
    ----------
    path : str
        Name with the folders that were given.
    cut_off : bool
        Whether the compressed data ended early when it was last read.
    content_bytes : int
        Most content that was read in one go.
    """

    def __init__(
        self,
        raw: Path | IO[bytes],
        name: str = "",
        limits: Limits = DEFAULT_LIMITS,
        progress: Progress | None = None,
    ) -> None:
        self._raw = raw
        self.progress = progress
        self._told = (0, 0)
        shown = name or (raw.name if isinstance(raw, Path) else "")
        self.path = shown.replace("\\", "/")
        self.name = self.path.rsplit("/", 1)[-1] or "file"
        self.limits = limits
        self._check_size()
        self.compressions = 0
        self._is_utf16 = False
        self.cut_off = False
        self.content_bytes = 0
        self.head = self._peel()

    def _check_size(self) -> None:
        """Refuse at once what is too large even before it is decompressed."""
        with self._open_raw() as raw:
            if raw.seek(0, io.SEEK_END) > self.limits.content_bytes:
                Budget(self.limits, self.name).spend(self.limits.content_bytes + 1)

    def _peel(self) -> bytes:
        """Find the layers of compression, and return the first bytes of the content."""
        while True:
            with self.open() as stream:
                head = stream.read(HEAD_BYTES)
            if not head.startswith(GZIP_MAGIC):
                break
            self.compressions += 1
            if self.compressions > self.limits.nesting:
                raise TraceError(
                    f"compressed more than {self.limits.nesting} times.",
                    where=self.name,
                    todo="Unpack it and upload the trace.",
                )
        for magic, kind in _OTHER_COMPRESSION.items():
            if head.startswith(magic):
                raise TraceError(
                    f"{kind} compression is not read.",
                    where=self.name,
                    todo="Upload the unpacked file, or pack it with gzip.",
                )
        if not head.startswith(UTF16_MARKS):
            return head.removeprefix(codecs.BOM_UTF8)
        self._is_utf16 = True
        with self.open() as stream:
            return stream.read(HEAD_BYTES)

    @contextmanager
    def open(self) -> Iterator[Stream]:
        """Open the decompressed content at its start."""
        budget = Budget(self.limits, self.name)
        with self._open_raw() as raw:
            layers: list[GzipStream] = []
            below: Readable = raw if self.progress is None else Watched(raw, self._tell)
            for _ in range(self.compressions):
                below = GzipStream(below, budget)
                layers.append(below)
            stream: Stream = layers[-1] if layers else PlainStream(below, budget)
            stream = Utf16Stream(stream) if self._is_utf16 else stream
            try:
                yield stream
            finally:
                self.cut_off = any(layer.cut_off for layer in layers)
                self.content_bytes = max(self.content_bytes, budget.content_bytes)

    def _tell(self, done_bytes: int, all_bytes: int) -> None:
        self._told = (done_bytes, all_bytes)
        if self.progress is not None:
            self.progress(done_bytes, all_bytes)

    @property
    def size_bytes(self) -> int:
        """Size of the file as it is, compressed or not."""
        with self._open_raw() as raw:
            return raw.seek(0, io.SEEK_END)

    def copy_to(self, path: Path) -> None:
        """Copy the file as it is, compressed or not."""
        with self._open_raw() as raw, path.open("wb") as copy:
            shutil.copyfileobj(raw, copy, BLOCK_BYTES)

    def watch_member(self) -> Portion | None:
        """Return who watches a member of this archive while the archive stands where it does."""
        return (
            None
            if self.progress is None
            else Portion(self.progress, self._told[0], 0, self._told[1])
        )

    def pulse(self) -> None:
        """Let who watches end the read where a library reads the file."""
        if self.progress is not None:
            self.progress(*self._told)

    def saw_steps(self, count: int) -> None:
        """Tell who watches how many steps were seen so far."""
        tell_steps(self.progress, count)

    @contextmanager
    def _open_raw(self) -> Iterator[IO[bytes]]:
        if isinstance(self._raw, Path):
            try:
                with self._raw.open("rb") as file:
                    yield file
            except OSError as error:
                raise TraceError(
                    f"the file cannot be read ({error.strerror or error}).",
                    where=self.name,
                    todo="See that it exists and may be read.",
                ) from None
        else:
            self._raw.seek(0)
            yield self._raw

    def windows(self, overlap_bytes: int = 4096) -> Iterator[bytes]:
        """Yield overlapping windows of the size of the head, up to the limit for searching."""
        kept = b""
        with self.open() as stream:
            for number, block in enumerate(blocks(stream)):
                if number * BLOCK_BYTES >= self.limits.search_bytes:
                    return
                data = kept + block
                for start in range(0, len(data), HEAD_BYTES - overlap_bytes):
                    yield data[start : start + HEAD_BYTES]
                kept = data[-overlap_bytes:]

    def lines(self) -> Iterator[str]:
        """Yield the lines of a text, without line ends; progress bars end lines, too.

        Bytes that are no text are replaced. A line is cut at the limit for lines.
        """
        decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        kept = ""
        with self.open() as stream:
            for block in blocks(stream):
                *whole, kept = (kept + decoder.decode(block)).replace("\r", "\n").split("\n")
                yield from (self._plain(line) for line in whole)
                kept = kept[: self.limits.line_bytes]
        kept += decoder.decode(b"", final=True)
        if kept:
            yield self._plain(kept)

    def _plain(self, line: str) -> str:
        """Return a line of allowed length without the colours of terminals."""
        line = line[: self.limits.line_bytes]
        return _COLOUR.sub("", line) if "\x1b" in line else line

    def content(self) -> bytes:
        """Return the whole content of a document that has to be read whole.

        Raises
        ------
        TraceError
            If it is longer than the limit for documents.
        """
        most = self.limits.document_bytes
        with self.open() as stream:
            data = stream.read(most + 1)
        if len(data) > most:
            raise TraceError(
                f"this kind of file is read up to {most / 1e6:g} MB.",
                where=self.name,
                todo="Upload a shorter one.",
            )
        return data

    @contextmanager
    def as_file(self) -> Iterator[Path]:
        """Give a path to the decompressed content, for libraries that need one."""
        if isinstance(self._raw, Path) and not (self.compressions or self._is_utf16):
            yield self._raw
            return
        with tempfile.TemporaryDirectory(prefix="advisor-trace-") as folder:
            path = Path(folder) / "content"
            with path.open("wb") as file, self.open() as stream:
                for block in blocks(stream):
                    file.write(block)
            yield path


def spool(raw: Readable, budget: Budget) -> IO[bytes]:
    """Copy a stream that cannot be sought into a temporary file (in memory while small)."""
    file = tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES)  # noqa: SIM115 - the caller closes
    try:
        for block in blocks(PlainStream(raw, budget)):
            file.write(block)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def source_of(
    raw: str | Path | bytes | IO[bytes],
    name: str = "",
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> Source:
    """Return the source of a path, of bytes or of an open binary file."""
    if isinstance(raw, str | Path):
        return Source(Path(raw), name, limits, progress)
    if isinstance(raw, bytes | bytearray):
        return Source(io.BytesIO(raw), name, limits, progress)
    name = name or str(getattr(raw, "name", ""))
    seekable = getattr(raw, "seekable", None)
    if seekable is None or not seekable():
        raw = spool(raw, Budget(limits, name))
    return Source(raw, name, limits, progress)
