"""Bars of several plans on one scale, and the lines of the comparison."""

from __future__ import annotations

import pytest
from plan_examples import plan

from advisor.ui.basket import MOST, clean, short_name
from advisor.ui.charts.side_by_side import draw_side_by_side, side_by_side
from advisor.ui.comparison import comparison_lines, comparison_table
from advisor.ui.theme import LIGHT


def test_all_plans_have_the_same_parts_in_the_same_order_on_one_scale() -> None:
    plans = [plan(hours=10.0), plan(hours=20.0, count=8), plan(hours=15.0)]
    for data in side_by_side(plans, deadline_h=24.0):
        names = [[part.name for part in bar.parts] for bar in data.bars]
        assert names == [names[0]] * 3
        figure = draw_side_by_side(data, LIGHT)
        assert figure.layout.xaxis.range[0] == 0
        longest = max(sum(part.value or 0 for part in bar.parts) for bar in data.bars)
        assert figure.layout.xaxis.range[1] > longest


def test_whiskers_are_the_interval_around_the_sum_of_the_parts() -> None:
    (time, bill, step, memory) = side_by_side([plan(hours=10.0)], None)
    assert time.whiskers == ((8.0, 12.5),)
    assert memory.whiskers == ()
    for data in (bill, step):
        ((low, high),) = data.whiskers
        assert low <= sum(part.value or 0 for part in data.bars[0].parts) <= high


def test_a_deadline_far_away_does_not_shrink_the_bars() -> None:
    near, far = (side_by_side([plan(hours=10.0)], limit)[0] for limit in (12.0, 500.0))
    assert near.limit is not None
    assert far.limit is None
    assert far.scale == pytest.approx(12.5)


def test_lines_mark_what_differs_and_what_is_best() -> None:
    lines = {
        line.name: line for line in comparison_lines([plan(hours=10.0), plan(hours=20.0)], 24.0)
    }
    assert lines["Time, 90 %"].differs
    assert lines["Time, 90 %"].best == {0}
    assert not lines["Market"].differs
    assert lines["Market"].best == frozenset()


def test_cells_are_escaped_and_differences_marked() -> None:
    table = comparison_table(comparison_lines([plan(hours=10.0), plan(hours=20.0)], None))
    assert table.loc[1, "Differs"] == "≠"
    assert table.loc[0, "A"].replace("*", "").startswith("\\$")


def test_keys_are_cleaned() -> None:
    assert clean(["a~b", "a~b", "nonsense"]) == ["a~b"]
    assert len(clean([f"{n}~x" for n in range(9)])) == MOST
    assert short_name("what is this") == "what is this"
