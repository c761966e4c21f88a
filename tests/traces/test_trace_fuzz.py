"""Whatever bytes come: a trace or a trace error, soon. Readers are called without their guard."""

from __future__ import annotations

import gzip
import json
import time

import pytest
from fuzz_readers import MOST_S, fuzz, read_once
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from trace_examples import EXAMPLES

from advisor.core.errors import TraceError
from advisor.traces import READERS, Limits
from advisor.traces.reader import find_reader
from advisor.traces.source import source_of

LIMITS = Limits(content_bytes=10_000_000)
TOKENS = (
    *(b"NaN", b"Infinity", b"-1", b"0", b"1e308", b"9" * 25, b"null", b"true", b'""', b"[]"),
    *(b"{}", b'"', b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r", b"\0", b"\xff", b"%", b"="),
    *(b" | ", b" 0 ", b"\t", b"\x1b[31m", "µ".encode(), b"--x=1"),
)


def read_unguarded(data: bytes) -> None:
    start = time.process_time()
    said: TraceError | None = None
    try:
        source = source_of(data, "fuzzed", LIMITS)
        json.dumps(find_reader(source).read(source).to_dict(), allow_nan=False)
    except TraceError as error:
        said = error
    assert said is None or (said.what and said.todo)
    assert time.process_time() - start < 5


@st.composite
def spoilt(draw: st.DrawFn, data: bytes) -> bytes:
    """A file with a few cuts, repeats and replacements."""
    out = bytearray(data)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(out)))
        span = draw(st.sampled_from((0, 1, 2, 5, 20, 200)))
        kind = draw(st.sampled_from(("replace", "cut", "repeat", "end")))
        if kind == "replace":
            out[at : at + span] = draw(st.sampled_from(TOKENS))
        elif kind == "cut":
            del out[at : at + span]
        elif kind == "repeat":
            out[at:at] = out[at : at + span] * draw(st.integers(1, 5))
        else:
            del out[at:]
    return bytes(out)


@pytest.mark.parametrize("name", list(READERS))
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_a_spoilt_file_raises_nothing_else(name: str, data: st.DataObject) -> None:
    changed = data.draw(spoilt(EXAMPLES[name]))
    read_unguarded(changed)
    # The reader itself is given it as well, if another one would be chosen now.
    try:
        source = source_of(changed, "fuzzed", LIMITS)
        if READERS[name].sniff(source.head):
            READERS[name].read(source)
    except TraceError:
        pass


@pytest.mark.parametrize("name", list(READERS))
def test_a_spoilt_file_may_be_long(name: str) -> None:
    assert fuzz(name, seconds=0.15)[1] < MOST_S


# What took minutes or crashed, found by `fuzz_readers`: long words, blanks and cells.
@pytest.mark.parametrize(
    ("name", "seed"),
    [
        *(("dcgm_prometheus_text", 212), ("kineto_chrome_trace", 279), ("nanotron_log", 41)),
        *(("nsys_csv", 228), ("nvidia_smi_csv", 580), ("runs_csv", 21), ("mlperf_log", 205)),
        *(("tf1_timeline_json", 96), ("xla_trace_json", 41), ("run_facts", 1061)),
        *(("nvidia_smi_dmon", 20847), ("tensorboard_profile_overview_json", 36997)),
        *(("nsys_csv", 22445), ("composer_log", 5015840), ("composer_log", 5021021)),
        *(("nsys_csv", 5054982), ("nsys_sqlite", 5008495), ("mlflow_metrics", 5116339)),
    ],
)
def test_files_that_hung_a_reader_are_read_soon(name: str, seed: int) -> None:
    assert read_once(name, seed) < MOST_S


@settings(max_examples=300, deadline=None)
@given(data=st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(TOKENS)).map(b"".join)))
@example(b'{"traceEvents":')
@example(b'{"traceEvents": [{}, {}, {}]}')
@example(b'[{"ph":')
@example(b"SQLite format 3\0")
@example(gzip.compress(b"{")[:-4])
def test_any_bytes_raise_nothing_else(data: bytes) -> None:
    read_unguarded(data)
