"""Shapes of operators and messages between processes: what they tell of the workload."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from advisor.traces.scrub import clean
from advisor.traces.trace import CollectiveRow, OperatorRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.traces.chrome_event import Event

_OPERATORS: Final = frozenset(
    {
        *("aten::mm", "aten::addmm", "aten::linear", "aten::convolution", "aten::embedding"),
        *("aten::_scaled_dot_product_flash_attention", "aten::scaled_dot_product_attention"),
        *("aten::_scaled_dot_product_efficient_attention", "aten::cross_entropy_loss"),
        *("aten::_scaled_dot_product_cudnn_attention", "aten::embedding_bag"),
    }
)
_MESSAGES: Final = "record_param_comms"
_MOST_DISTINCT: Final = 2000
# A step repeats the one before, so the first ones tell all.
_ENOUGH: Final = 20_000
_SHOWN: Final = 40
_LONGEST: Final = 2000
_LARGEST: Final = 2**40


class Shapes:
    """Counts distinct shapes and groups; beyond a limit, further ones are left out."""

    def __init__(self) -> None:
        self._calls: Counter[tuple[str, bytes]] = Counter()
        self._groups: dict[tuple[str, int, str], tuple[float, int]] = {}

    def add(self, events: Sequence[Event], names: set[str | None]) -> None:
        """Take what a batch of events of one category tells; `names` are all their names."""
        wanted = names & _OPERATORS
        if wanted and self._calls.total() < _ENOUGH:
            for event in events:
                if event.name in wanted and event.args is not None:
                    self._add_operator(event.name, bytes(event.args.shapes))
        if _MESSAGES in names:
            for event in events:
                if event.name == _MESSAGES and event.args is not None:
                    self._add_message(event)

    def _add_operator(self, name: str | None, shapes: bytes) -> None:
        key = (name or "", shapes)
        if 0 < len(shapes) <= _LONGEST and (
            key in self._calls or len(self._calls) < _MOST_DISTINCT
        ):
            self._calls[key] += 1

    def _add_message(self, event: Event) -> None:
        args = event.args
        if args is None or args.group_size is None or not 1 <= args.group_size < _LARGEST:
            return
        elements = args.elements or 0.0
        if not 0 <= elements < _LARGEST:
            return
        key = (str(args.group or ""), int(args.group_size), str(args.dtype or ""))
        if key in self._groups or len(self._groups) < _MOST_DISTINCT:
            known, calls = self._groups.get(key, (0.0, 0))
            self._groups[key] = (known + elements, calls + 1)

    def operators(self) -> tuple[OperatorRow, ...]:
        """Return the operators that were called most, each with its shapes."""
        rows = [
            OperatorRow(name=name, shapes=shapes, calls=calls)
            for (name, text), calls in self._calls.most_common(4 * _SHOWN)
            if (shapes := _shapes(text)) is not None
        ]
        return tuple(rows[:_SHOWN])

    def collectives(self) -> tuple[CollectiveRow, ...]:
        """Return the groups with most elements."""
        rows = [
            CollectiveRow(
                group=clean(group), size=size, dtype=clean(dtype), elements=elements, calls=calls
            )
            for (group, size, dtype), (elements, calls) in self._groups.items()
        ]
        return tuple(sorted(rows, key=lambda row: -row.elements)[:_SHOWN])


def _shapes(text: bytes) -> tuple[tuple[int, ...], ...] | None:
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list):
        return None
    rows = [tuple(row) if isinstance(row, list) else () for row in found]
    whole = all(
        isinstance(size, int) and not isinstance(size, bool) and 0 <= size < _LARGEST
        for row in rows
        for size in row
    )
    return tuple(rows) if whole else None
