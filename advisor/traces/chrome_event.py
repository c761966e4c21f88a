"""One event of a Chrome trace: the few fields that are needed, decoded with their types."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

import msgspec

Label = int | float | str | None


_NOTHING: Final = msgspec.Raw()


class Args(msgspec.Struct, gc=False):
    """What is needed of the details of an event."""

    correlation: float | None = None
    device: Label = None
    stream: Label = None
    name: Label = None
    device_type: float | None = msgspec.field(name="Device Type", default=None)
    shapes: msgspec.Raw = msgspec.field(name="Input Dims", default=_NOTHING)
    group_size: float | None = msgspec.field(name="Group size", default=None)
    group: Label = msgspec.field(name="Process Group Description", default=None)
    elements: float | None = msgspec.field(name="In msg nelems", default=None)
    dtype: Label = None
    allocated_bytes: float | None = msgspec.field(name="Total Allocated", default=None)


class Event(msgspec.Struct, gc=False):
    """An event; ``ts`` and ``dur`` are microseconds."""

    name: str | None = None
    ph: str | None = None
    cat: str | None = None
    ts: float | None = None
    dur: float | None = None
    pid: Label = None
    tid: Label = None
    args: Args | None = None


# Not strict: some tools write numbers as text.
_MANY: Final = msgspec.json.Decoder(list[Event], strict=False)
_ONE: Final = msgspec.json.Decoder(Event, strict=False)

# The first key of an event, so that an object inside an event is not taken for one.
START: Final = re.compile(
    rb'\}\s*,\s*(?=\{\s*"(?:ph|name|cat|pid|tid|ts|dur|args|id|s|bp|sf|cname|tts)"\s*:)'
)
_NOT_A_NUMBER: Final = re.compile(
    r"(?<=[:\[,])(\s*)[-+]?(?:inf(?:inity)?|nan)\b(?=\s*[,}\]])", re.IGNORECASE
)
_TRAILING: Final = re.compile(r"trailing characters \(byte (\d+)\)")
_LONGEST_MENDED: Final = 2**14
_TEXT_START: Final = {
    key: re.compile(rf'"{key}"\s*:\s*"') for key in ("name", "ph", "cat", "pid", "tid")
}
_TEXT_END: Final = re.compile(
    r'"\s*(?:,\s*"(?:name|ph|cat|pid|tid|ts|dur|args|id|s|bp)"\s*:|\}\s*$)'
)
_LONGEST_TEXT: Final = 2000
_NUMBER_FIELD: Final = re.compile(
    r'"(ts|dur|correlation|device|stream|pid|tid)"\s*:\s*"?(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"?\s*[,}]'
)
_ARGS_FIELDS: Final = ("correlation", "device", "stream", "name", "Device Type", "Total Allocated")


def decode(text: bytes, end: int | None = None) -> list[Event] | None:
    """Return the events of a piece of an event array up to `end`, None where it is not valid."""
    try:
        return _MANY.decode(b"".join((b"[", memoryview(text)[:end], b"]")))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None


def closing(buffer: bytes) -> int | None:
    """Return where an event array closes within a buffer, None where it is broken or open."""
    try:
        _MANY.decode(b"[" + buffer)
    except msgspec.DecodeError as error:
        # The decoder stops behind the bracket if anything but white space follows.
        trailing = _TRAILING.search(str(error))
        at = int(trailing[1]) if trailing else 0
        end = buffer.rfind(b"]", 0, at)
        return end if end >= 0 else None
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None
    return buffer.rindex(b"]")


def mend(piece: bytes) -> Event | None:
    """Return an event that the decoder does not accept, None where nothing can be made of it.

    Known from public reports: bare ``inf`` and ``NaN``, control characters, bytes that are no
    UTF-8, integers beyond 64 bits, quotes within names that are not escaped.
    """
    try:
        return _ONE.decode(piece)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        pass
    text = piece.decode("utf-8", errors="replace")
    try:
        found = json.loads(_NOT_A_NUMBER.sub(r"\1null", text), strict=False)
    except (ValueError, RecursionError):
        return _by_fields(text)
    return _from_dict(found) if isinstance(found, dict) else None


def _from_dict(found: dict[str, Any]) -> Event:
    args = found.get("args")
    details = {key: args.get(key) for key in _ARGS_FIELDS} if isinstance(args, dict) else {}
    return Event(
        name=_text(found.get("name")),
        ph=_text(found.get("ph")),
        cat=_text(found.get("cat")),
        ts=_number(found.get("ts")),
        dur=_number(found.get("dur")),
        pid=_label(found.get("pid")),
        tid=_label(found.get("tid")),
        args=Args(
            correlation=_number(details.get("correlation")),
            device=_label(details.get("device")),
            stream=_label(details.get("stream")),
            name=_label(details.get("name")),
            device_type=_number(details.get("Device Type")),
            allocated_bytes=_number(details.get("Total Allocated")),
        ),
    )


def _by_fields(text: str) -> Event | None:
    """Pick the fields one by one out of text that is no JSON."""
    if len(text) > _LONGEST_MENDED:
        return None
    numbers = {key: float(value) for key, value in reversed(_NUMBER_FIELD.findall(text))}
    texts: dict[str, str] = {}
    for key, pattern in _TEXT_START.items():
        start = pattern.search(text)
        # A quote within the text is none behind which another field or the end of the event comes.
        end = _TEXT_END.search(text, start.end(), start.end() + _LONGEST_TEXT) if start else None
        if start and end:
            texts[key] = text[start.end() : end.start()]
    if "ts" not in numbers or "name" not in texts:
        return None
    return Event(
        name=texts["name"],
        ph=texts.get("ph"),
        cat=texts.get("cat"),
        ts=numbers["ts"],
        dur=numbers.get("dur"),
        pid=numbers.get("pid", texts.get("pid")),
        tid=numbers.get("tid", texts.get("tid")),
        args=Args(
            correlation=numbers.get("correlation"),
            device=numbers.get("device"),
            stream=numbers.get("stream"),
        ),
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _label(value: object) -> Label:
    return value if isinstance(value, int | float | str) else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
