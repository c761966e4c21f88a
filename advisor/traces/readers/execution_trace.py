"""Execution traces of PyTorch and Chakra: what ran in which order, without times."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.traces.draft import Draft
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SNIFF: Final = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{\s*"schema"\s*:\s*"[\w.-]+"')


@READERS.register("pytorch_execution_trace")
class ExecutionTraceReader:
    """Recognised and explained."""

    label: ClassVar[str] = "PyTorch or Chakra execution trace (explained only)"
    anywhere: ClassVar[bool] = False
    rank: ClassVar[int] = 2

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See the schema and the list of nodes."""
        return _SNIFF.match(head) is not None and b'"nodes"' in head

    @staticmethod
    def read(source: Source) -> Trace:  # noqa: ARG004 - what is inside has no times
        """Say what to upload instead."""
        draft = Draft(format="pytorch_execution_trace", framework="PyTorch")
        draft.warn(
            "An execution trace lists operations without durations, so it says nothing about "
            "speed; upload the profiler (Kineto) trace that was recorded with it."
        )
        return draft.finish()
