"""Labels of marked dots stay readable."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from advisor.ui.charts.labels import (
    DOT_PX,
    HEIGHT_PX,
    LETTER_PX,
    POSITIONS,
    WIDTH_PX,
    _box,
    label_positions,
)

LABELS = ["Cheapest", "Fastest", "Best value", "Safest"]


def _boxes(x: list[float], y: list[float]) -> list[tuple[float, ...]]:
    positions = label_positions(x, y, LABELS)
    return [
        _box(WIDTH_PX * a, HEIGHT_PX * b, LETTER_PX * len(label), position)
        for a, b, label, position in zip(x, y, LABELS, positions, strict=True)
    ]


def test_labels_of_dots_close_together_do_not_cover_each_other() -> None:
    boxes = _boxes([0.14, 0.135, 0.14, 0.33], [0.2, 0.27, 0.2, 0.55])
    assert all(one.shared(other) == 0 for one, other in combinations(boxes, 2))


def test_a_label_does_not_cover_the_dot_of_another() -> None:
    x, y = [0.5, 0.55], [0.5, 0.52]
    positions = label_positions(x, y, ["Cheapest", "Fastest"])
    first = _box(WIDTH_PX * 0.5, HEIGHT_PX * 0.5, LETTER_PX * 8, positions[0])
    assert not (
        first.left < WIDTH_PX * 0.55 - DOT_PX < first.right and first.top > 171.6 > first.bottom
    )


shares = st.floats(0.03, 0.97)


@given(shares, shares, st.sampled_from(LABELS))
def test_a_label_alone_stays_within_the_plot(x: float, y: float, label: str) -> None:
    (position,) = label_positions([x], [y], [label])
    assert position in POSITIONS
    box = _box(WIDTH_PX * x, HEIGHT_PX * y, LETTER_PX * len(label), position)
    assert box.left >= 0
    assert box.right <= WIDTH_PX
    assert box.bottom >= 0
    assert box.top <= HEIGHT_PX
