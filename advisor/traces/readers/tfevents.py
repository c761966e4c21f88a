"""TensorBoard event files: scalars with their step and wall time."""

from __future__ import annotations

import re
import statistics
import struct
from collections import defaultdict
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.traces.draft import Draft
from advisor.traces.pace import Pace
from advisor.traces.protobuf import Records, fields, is_record
from advisor.traces.rates import set_throughput
from advisor.traces.reader import READERS
from advisor.traces.scrub import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_TESTING: Final = re.compile(r"(?:^|[/_])(?:eval|val|valid|test|dev|system)", re.IGNORECASE)
_RATE: Final = re.compile(
    r"throughput|(?:samples|examples|images|tokens|sequences)[-_ /]*(?:per[-_ ]*)?s(?:ec|econd)?\b",
    re.IGNORECASE,
)
_TIME: Final = re.compile(
    r"(?:^|/)(?:took|(?:step|iter|iteration|batch)[-_]?time|time[-_]per[-_](?:step|iter\w*))",
    re.IGNORECASE,
)
_UNIT: Final = re.compile(r"samples|examples|images|tokens|sequences", re.IGNORECASE)
# Keras counts epochs in these, not steps.
_EPOCHS: Final = re.compile(r"(?:^|/)epoch_(?!step)", re.IGNORECASE)
_MOST_TAGS: Final = 5000
_WHOLE_SPREAD: Final = 0.02

Points = list[tuple[int, float, float]]


@READERS.register("tensorboard_tfevents")
class TfeventsReader:
    """Step time from the clock; what the tags say of speed is checked against it."""

    label: ClassVar[str] = "TensorBoard event file"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 45

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See a record, and in it the version that every event file begins with."""
        return is_record(head) and b"brain.Event:" in head[:64]

    @staticmethod
    def read(source: Source) -> Trace:
        """Read all scalars."""
        draft = Draft(format="tensorboard_tfevents")
        records = Records(source)
        series: dict[str, Points] = defaultdict(list)
        for record in records:
            for tag, step, wall_s, value in _scalars(record):
                if tag in series or len(series) < _MOST_TAGS:
                    series[tag].append((step, wall_s, value))
        if records.cut_off or source.cut_off:
            draft.warn("The file ends within a record; what stands before it was read.")
        if records.damaged:
            draft.warn(f"Left out: {counted(records.damaged, 'record')} with a wrong checksum.")
        if not series:
            if records.cut_off or records.damaged:
                raise TraceError(
                    "the file is cut off before its first scalar.",
                    where=source.name,
                    todo="Copy it again from where it was written.",
                )
            draft.warn(
                "The file has no scalars (hyper-parameters or a graph only): nothing about speed. "
                "Add the event file of the training itself."
            )
            return draft.finish()
        _set_numbers(draft, series)
        return draft.finish()


def _scalars(record: bytes) -> Iterator[tuple[str, int, float, float]]:
    wall_s, step, summaries = 0.0, 0, list[bytes]()
    for number, value in fields(record):
        if number == 1 and isinstance(value, bytes) and len(value) == 8:
            wall_s = struct.unpack("<d", value)[0]
        elif number == 2 and isinstance(value, int):
            step = value
        elif number == 5 and isinstance(value, bytes):
            summaries.append(value)
    for summary in summaries:
        for number, entry in fields(summary):
            if number == 1 and isinstance(entry, bytes):
                tag, scalar = _value(entry)
                if tag and scalar is not None:
                    yield tag, step, wall_s, scalar


def _value(entry: bytes) -> tuple[str, float | None]:
    tag, scalar = "", None
    for number, value in fields(entry):
        if not isinstance(value, bytes):
            continue
        if number == 1:
            tag = value.decode(errors="replace")
        elif number == 2 and len(value) == 4:
            scalar = float(struct.unpack("<f", value)[0])
        elif number == 8:
            scalar = _tensor(value)
    return tag, scalar


def _tensor(message: bytes) -> float | None:
    """Return the number in a tensor of one float or double (TensorFlow 2 writes scalars so)."""
    kind = 0
    for number, value in fields(message):
        if number == 1 and isinstance(value, int):
            kind = value
        form = {(4, 4): "<f", (4, 8): "<d", (5, 4): "<f", (6, 8): "<d"}
        if isinstance(value, bytes) and (code := form.get((number, len(value)))):
            return float(struct.unpack(code, value)[0]) if kind in {1, 2} else None
    return None


def _set_numbers(draft: Draft, series: dict[str, Points]) -> None:
    training = {tag: points for tag, points in series.items() if not _TESTING.search(tag)}
    stepped = {tag: points for tag, points in training.items() if not _EPOCHS.search(tag)}
    if training and not stepped:
        draft.warn(
            "The tags count epochs, not steps, so the step time is not available; write by batch: "
            "TensorBoard(update_freq=100)."
        )
        return
    longest = max((stepped or series).values(), key=len)
    pace = Pace()
    for step, wall_s, _ in longest:
        pace.add(step, wall_s)
    draft.step_time_s, draft.steps = pace.step_time_s, pace.steps or None
    if draft.step_time_s is None:
        draft.warn("No tag has two steps at two times, so the step time is not available.")
    if pace.restarts:
        draft.warn(f"Steps done again after {counted(pace.restarts, 'restart')} count once.")
    rate_tag = next((tag for tag in training if _RATE.search(tag)), None)
    if rate_tag is None:
        return
    rates = _typical(training[rate_tag])
    unit = _UNIT.search(rate_tag)
    logged_unit = f"{unit[0].lower()}/s" if unit else "samples/s"
    time_tag = next((tag for tag in training if _TIME.search(tag)), None)
    draft.global_batch = _batch(training, rate_tag, time_tag)
    name = f"the tag “{rate_tag}”"
    set_throughput(draft, draft.global_batch, logged_unit, rates, name)


def _typical(points: Points) -> float | None:
    values = [value for _, _, value in points if value > 0]
    return statistics.median(values) if values else None


def _batch(training: dict[str, Points], rate_tag: str, time_tag: str | None) -> float | None:
    """Return rate × time where both are logged and their product is nearly the same always."""
    if time_tag is None:
        return None
    times = {step: value for step, _, value in training[time_tag]}
    products = [
        value * times[step]
        for step, _, value in training[rate_tag]
        if step in times and value * times[step] > 0
    ]
    if not products:
        return None
    usual = statistics.median(products)
    whole = round(usual)
    return float(whole) if whole >= 1 and abs(usual - whole) <= _WHOLE_SPREAD * whole else None
