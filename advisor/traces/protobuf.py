"""The little of Protocol Buffers and TFRecord that event files need."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from advisor.core.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.traces.source import Source

_POLYNOMIAL: Final = 0x82F63B78  # Castagnoli, bits reversed
_MASK_DELTA: Final = 0xA282EAD8
_HEADER_BYTES: Final = 12
_CRC_BYTES: Final = 4
# Scalars are short. Longer records (images, graphs) are not used, so not checked either.
_CHECKED_BYTES: Final = 2048
_MOST_BYTES: Final = 2**28


def _table() -> tuple[int, ...]:
    rows = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (_POLYNOMIAL if crc & 1 else 0)
        rows.append(crc)
    return tuple(rows)


_TABLE: Final = _table()


def masked_crc32c(data: bytes) -> int:
    """Return the checksum that TFRecord files carry.

    >>> hex(masked_crc32c(b"123456789"))
    '0xc78ab0e5'
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


@dataclass
class Records:
    """The records of a TFRecord file.

    Attributes
    ----------
    damaged : int
        Records whose checksum is wrong; left out.
    cut_off : bool
        Whether the file ends within a record.
    """

    source: Source
    damaged: int = 0
    cut_off: bool = False

    def __iter__(self) -> Iterator[bytes]:
        with self.source.open() as stream:
            while header := stream.read(_HEADER_BYTES):
                if len(header) < _HEADER_BYTES:
                    self.cut_off = True
                    return
                length, crc = struct.unpack("<QI", header)
                if crc != masked_crc32c(header[:8]):
                    self._lost()
                    return  # where the next record begins is not known any more
                if length > min(_MOST_BYTES, self.source.limits.content_bytes):
                    raise TraceError(
                        f"a record of {length:,} bytes.",
                        where=self.source.name,
                        todo="Write scalars to a file of their own.",
                    )
                data = stream.read(length)
                end = stream.read(_CRC_BYTES)
                if len(data) < length or len(end) < _CRC_BYTES:
                    self.cut_off = True
                    return
                if length <= _CHECKED_BYTES and struct.unpack("<I", end)[0] != masked_crc32c(data):
                    self.damaged += 1
                else:
                    yield data

    def _lost(self) -> None:
        self.damaged += 1
        self.cut_off = True


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield number and raw value of the fields of a message; stops where it is broken.

    Values are integers (varints) or bytes (all others).
    """
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        size = {1: 8, 5: 4}.get(kind)
        if kind == 2:
            size, at = _varint(message, at)
        if size is None or at + size > len(message):
            return
        yield key >> 3, message[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    return value, len(data)


def is_record(head: bytes) -> bool:
    """Tell whether content begins with a TFRecord."""
    if len(head) < _HEADER_BYTES:
        return False
    _, crc = struct.unpack("<QI", head[:_HEADER_BYTES])
    return bool(crc == masked_crc32c(head[:8]))
