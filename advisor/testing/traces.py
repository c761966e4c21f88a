"""What every reader of traces must do.

A test module holds a subclass, runs it over the registry, and gives a small file of the format::

    class TestReaders(TraceReaderContract):
        @pytest.fixture(params=list(READERS))
        def reader_name(self, request):
            return request.param

        @pytest.fixture
        def example(self, reader_name):
            return EXAMPLES[reader_name]
"""

# ruff: noqa: D102 - the names of the tests are sentences
from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING

import pytest

from advisor.core.errors import TraceError
from advisor.traces import READERS, Trace, read
from advisor.traces.reader import find_reader
from advisor.traces.source import HEAD_BYTES, source_of
from advisor.traces.trace import MAIN_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable

FOREIGN = (
    b"",
    b"\x89PNG\r\n\x1a\n" + bytes(64),
    b"{}",
    b"[]",
    b"null",
    b"<html><body>404</body></html>",
    b"The quick brown fox jumps over the lazy dog.\n" * 50,
    b"a,b,c\n1,2,3\n",
    bytes(range(256)) * 16,
)


class TraceReaderContract:
    """Invariants of the reader called ``reader_name`` on the file ``example``."""

    def test_it_says_what_it_reads(self, reader_name: str) -> None:
        reader = READERS[reader_name]
        assert len(reader.label) > 3
        assert reader.__doc__

    def test_it_knows_its_own_file(self, reader_name: str, example: bytes) -> None:
        assert find_reader(source_of(example)) is READERS[reader_name]

    def test_it_knows_nothing_foreign(self, reader_name: str) -> None:
        assert not any(READERS[reader_name].sniff(head) for head in FOREIGN)

    def test_sniffing_takes_any_bytes(self, reader_name: str, example: bytes) -> None:
        for end in range(0, min(len(example), HEAD_BYTES), 97):
            assert READERS[reader_name].sniff(example[:end]) in {True, False}

    def test_paths_streams_bytes_and_gzip_give_the_same(
        self,
        example: bytes,
        tmp_path_factory: pytest.TempPathFactory,
    ) -> None:
        path = tmp_path_factory.mktemp("trace") / "a.bin"
        path.write_bytes(example)
        packed = gzip.compress(example)
        traces = [read(path), read(example), read(io.BytesIO(example)), read(packed)]
        assert traces[1:] == traces[:-1]

    def test_what_is_unknown_is_none_and_the_rest_is_json(self, example: bytes) -> None:
        trace = read(example)
        fields = trace.to_dict()
        assert tuple(fields)[: len(MAIN_KEYS)] == MAIN_KEYS
        assert "NaN" not in json.dumps(fields, allow_nan=False)
        assert fields["step_time_s"] != 0
        assert fields["throughput"] != 0
        assert Trace.from_json(trace.to_json()) == trace

    def test_nothing_personal_is_kept(self, example: bytes) -> None:
        text = json.dumps(read(example).to_dict())
        for personal in ("alice", "lab-7", "/home/"):
            assert personal not in text

    @pytest.mark.parametrize(
        "spoil",
        [
            pytest.param(lambda data: data[: len(data) // 2], id="cut in half"),
            pytest.param(lambda data: data[:-1], id="last byte missing"),
            pytest.param(lambda data: data * 2, id="doubled"),
            pytest.param(lambda data: data.replace(b"1", b"-1"), id="negative"),
            pytest.param(lambda data: data.replace(b"1", b"NaN"), id="no numbers"),
            pytest.param(lambda data: data.replace(b"0", b"9" * 30), id="huge"),
            pytest.param(lambda data: data.replace(b"e", b"\xff\x00"), id="no text"),
        ],
    )
    def test_a_spoilt_file_gives_a_trace_or_a_trace_error(
        self, example: bytes, spoil: Callable[[bytes], bytes]
    ) -> None:
        said: TraceError | None = None
        try:
            json.dumps(read(spoil(example), "spoilt").to_dict(), allow_nan=False)
        except TraceError as error:
            said = error
        if said is not None:
            assert said.what
            assert said.todo
            assert "spoilt" in said.where
