"""Charts of a trace: parts of the time, timeline, ranks side by side."""

from __future__ import annotations

import pytest

from advisor.traces import Parts, RankRow, Timeline
from advisor.ui.charts.traced import draw_ranks, draw_timeline, ranks_data, ranks_words, run_bar
from advisor.ui.theme import LIGHT

PARTS = Parts(window_s=0.4, compute_s=0.2, comm_exposed_s=0.1, memcpy_s=0.02, idle_s=0.08)
TIMELINE = Timeline(
    slice_s=0.1, compute=(0.5, 1.0, 0.25, 0.25), comm_exposed=(0.5, 0, 0.25, 0.25),
    memcpy=(0, 0, 0.1, 0.1),
)  # fmt: skip
RANKS = tuple(
    RankRow(rank=n, step_time_s=0.1 + 0.05 * (n == 2), gpu_busy_share=0.9, comm_exposed_share=0.2)
    for n in range(4)
)


def test_the_bar_is_of_a_mean_step_where_steps_are_known() -> None:
    bar = run_bar(PARTS, 4)
    assert bar.whole == pytest.approx(0.1)
    assert sum(part.value or 0 for part in bar.parts) == pytest.approx(bar.whole)
    assert [part.name for part in bar.parts] == [
        *("Compute", "Exposed communication", "Copies", "Idle")
    ]
    assert run_bar(PARTS, None).whole == pytest.approx(0.4)


def test_the_timeline_has_axes_with_units_and_a_bar_per_slice() -> None:
    figure = draw_timeline(TIMELINE, "Over time", run_bar(PARTS, 4), LIGHT)
    assert [len(trace.x) for trace in figure.data] == [4, 4, 4]
    assert list(figure.data[0].y) == [50, 100, 25, 25]
    assert list(figure.data[0].x) == pytest.approx([50, 150, 250, 350])
    assert figure.layout.xaxis.ticksuffix == " ms"
    assert figure.layout.yaxis.ticksuffix == " %"
    assert figure.layout.annotations[0].text == "Over time"


def test_ranks_stand_side_by_side_with_what_of_their_step_is_exposed() -> None:
    data = ranks_data(RANKS)
    assert data is not None
    figure = draw_ranks(data, run_bar(PARTS, 4), LIGHT)
    assert list(figure.data[0].y) == pytest.approx([80, 80, 120, 80])
    assert list(figure.data[1].y) == pytest.approx([20, 20, 30, 20])
    assert figure.layout.yaxis.ticksuffix == " ms"
    assert "the slowest is rank 2" in ranks_words(data)


def test_one_rank_is_not_compared() -> None:
    assert ranks_data(RANKS[:1]) is None
    assert ranks_data((RankRow(rank=0), RankRow(rank=1))) is None
