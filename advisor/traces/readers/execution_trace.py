"""Execution traces of PyTorch and Chakra: what ran in which order, without times."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.traces.draft import Draft
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SNIFF: Final = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{\s*"(?:schema|pid|time|start_ts|nodes)"\s*:')
_NODE_KEYS: Final = (b'"op_schema"', b'"rf_id"', b'"fw_parent"', b'"ctrl_deps"', b'"schema"')


@READERS.register("pytorch_execution_trace")
class ExecutionTraceReader:
    """Recognised and explained."""

    label: ClassVar[str] = "PyTorch or Chakra execution trace (explained only)"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 2

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See the list of nodes and what such nodes have."""
        opens = _SNIFF.match(head) is not None and b'"nodes"' in head
        return opens and any(key in head for key in _NODE_KEYS)

    @staticmethod
    def read(source: Source) -> Trace:  # noqa: ARG004 - what is inside has no times
        """Say what to upload instead."""
        draft = Draft(format="pytorch_execution_trace", framework="PyTorch")
        draft.warn(
            "An execution trace lists operations without durations, so it says nothing about "
            "speed; upload the profiler (Kineto) trace that was recorded with it."
        )
        return draft.finish()
