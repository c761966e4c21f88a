"""Where the labels of a few marked dots go, so that none covers another or another's dot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# A narrow plot's size in pixels: what is free of overlap there is free on a wide one.
WIDTH_PX: Final = 420
HEIGHT_PX: Final = 330
LETTER_PX: Final = 7.5
LINE_PX: Final = 16
DOT_PX: Final = 8
POSITIONS: Final = (
    "top right", "top left", "bottom right", "bottom left",
    "top center", "bottom center", "middle right", "middle left",
)  # fmt: skip


class _Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    def shared(self, other: _Box) -> float:
        """Return the area that both cover."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(wide, 0.0) * max(high, 0.0)


def label_positions(x: Iterable[float], y: Iterable[float], labels: Sequence[str]) -> list[str]:
    """Return plotly's ``textposition`` of every label.

    Parameters
    ----------
    x, y : iterable of float, n each
        Places of the dots as shares of the axes' lengths, 0 to 1.
    labels : sequence of str, shape (n,)
        The texts.

    Notes
    -----
    Greedy in the order given: each takes the first of eight positions that loses the least to the
    plot's edge, to the dots and to the labels before it.
    """
    plot = _Box(0, 0, WIDTH_PX, HEIGHT_PX)
    places = [(WIDTH_PX * right, HEIGHT_PX * up) for right, up in zip(x, y, strict=True)]
    taken = [_Box(a - DOT_PX, b - DOT_PX, a + DOT_PX, b + DOT_PX) for a, b in places]
    chosen = []
    for place, label in zip(places, labels, strict=True):
        boxes = {name: _box(*place, LETTER_PX * len(label), name) for name in POSITIONS}

        def lost(name: str, boxes: dict[str, _Box] = boxes) -> float:
            box = boxes[name]
            outside = box.shared(box) - box.shared(plot)
            return outside + sum(box.shared(other) for other in taken)

        best = min(POSITIONS, key=lost)
        taken.append(boxes[best])
        chosen.append(best)
    return chosen


def _box(x: float, y: float, width: float, position: str) -> _Box:
    """Return the rectangle of a label beside the dot at x, y."""
    row, side = position.split()
    left = {"right": x, "center": x - width / 2, "left": x - width}[side]
    if row == "middle":
        left += {"right": DOT_PX, "left": -DOT_PX}[side]
    bottom = {"top": y + DOT_PX, "middle": y - LINE_PX / 2, "bottom": y - DOT_PX - LINE_PX}[row]
    return _Box(left, bottom, left + width, bottom + LINE_PX)
