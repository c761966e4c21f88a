"""Decoding by category gives what decoding every field gives."""

from __future__ import annotations

import json
from typing import Any

import pytest
from trace_examples import dumped, profiler_trace

from advisor.traces import chrome_event, profiler_kinds, read
from advisor.traces.profiler_kinds import decode
from advisor.traces.readers import kineto


def test_the_same_trace_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    data = dumped(profiler_trace())
    by_category = read(data, "trace.json")
    monkeypatch.setattr(kineto, "decode", chrome_event.decode)
    assert read(data, "trace.json") == by_category


@pytest.mark.parametrize("order", [list, reversed])
def test_fields_may_stand_in_any_order(order: Any) -> None:
    event = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": "5.5", "dur": 2,
             "args": {"device": 0, "stream": 7, "correlation": 3, "grid": [1, 1, 1]}}  # fmt: skip
    found = decode(json.dumps(dict(order(list(event.items())))).encode())
    assert found is not None
    (work,) = found
    assert isinstance(work, profiler_kinds.Work)
    assert (work.cat, work.ts, work.dur, work.name) == ("kernel", 5.5, 2, "k")
    assert (work.args.device, work.args.stream, work.args.correlation) == (0, 7, 3)


@pytest.mark.parametrize("other", ['{"ph": "M", "name": "process_name"}', '{"cat": "mtia_ops"}'])
def test_categories_that_are_not_known_are_decoded_whole(other: str) -> None:
    found = decode(f'{{"cat": "kernel", "name": "k"}}, {other}'.encode())
    assert found is not None
    assert [type(event) for event in found] == [chrome_event.Event] * 2
    assert found[0].cat == "kernel"


@pytest.mark.parametrize("details", ["null", "7", "[]", '{"Device Type": []}'])
def test_details_that_are_none_are_left_out(details: str) -> None:
    found = decode(f'{{"cat": "cpu_op", "name": "aten::mm", "args": {details}}}'.encode())
    assert found is not None
    assert found[0].args is None
