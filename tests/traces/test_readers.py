"""Every registered reader keeps the contract on a small file of its format."""

from __future__ import annotations

import pytest
from examples import EXAMPLES

from advisor.testing.traces import TraceReaderContract
from advisor.traces import READERS


class TestReaders(TraceReaderContract):
    @pytest.fixture(params=list(READERS))
    def reader_name(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    def example(self, reader_name: str) -> bytes:
        return EXAMPLES[reader_name]


def test_every_format_has_an_example() -> None:
    assert set(EXAMPLES) == set(READERS)
