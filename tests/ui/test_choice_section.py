"""Why this choice on Advise: made when it is opened, of the pick that is asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ui_apps import open_page, text_of

from advisor.advice import Engine
from advisor.advice.advise import select
from advisor.advice.choice import choice_of
from advisor.domain import Choice
from advisor.search.search import Evaluated, evaluate
from advisor.ui import choosing
from advisor.ui.charts.break_even import break_even_data, draw_break_even
from advisor.ui.charts.tornado import draw_tornado, tornado_data
from advisor.ui.state import DEFAULT_JOB, Inputs
from advisor.ui.text import plain
from advisor.ui.theme import DARK, LIGHT

LIMITS = Inputs(job=DEFAULT_JOB, deadline_h=72.0).limits(("aws", "gcp", "azure"))


@pytest.fixture(autouse=True)
def _own_store(engine_copy: Path) -> None:
    """Answer with the engine of the tests."""


@pytest.fixture(name="table", scope="module")
def table_fixture(engine: Engine) -> Evaluated:
    inputs = Inputs(job=DEFAULT_JOB)
    return evaluate(inputs.parsed.workload(), engine.catalog, engine.predictor, inputs.options)


@pytest.fixture(name="choice", scope="module")
def choice_fixture(table: Evaluated, engine: Engine) -> Choice:
    result = select(table, LIMITS)
    return choice_of(table, result.rows, result.picks["cheapest"], LIMITS, engine)


def test_the_choice_is_behind_an_expander(monkeypatch: pytest.MonkeyPatch) -> None:
    def unasked(*_: object) -> None:
        raise AssertionError("made although nobody asked")

    monkeypatch.setattr(choosing, "choice_of", unasked)
    test = open_page("advise", job=DEFAULT_JOB)
    assert not test.exception
    assert "Why this choice" in [one.label for one in test.expander]


def test_opened_it_says_why_what_binds_what_flips_and_how_sure(choice: Choice) -> None:
    test = open_page("advise", job=DEFAULT_JOB, deadline="72", why="true")
    assert not test.exception
    said = text_of(test)
    assert "less than" in said
    assert "turns out the lower of the two with a chance of" in said
    assert "Without the limit on" in said or "No limit binds" in said
    assert "What moves the bill most" in said
    assert "Break-even" in said
    shown = [table.value for table in test.table]
    flips = next(one for one in shown if "That is" in one)
    assert len(flips) == len(choice.flips)
    assert flips["That is"].iloc[0] == plain(choice.flips[0].by)
    assert any("Costs less" in one for one in shown)
    test.radio(key="why_pick").set_value("fastest").run()
    assert not test.exception
    assert "more than" in text_of(test)


def test_every_assumption_is_a_bar_across_the_bill(choice: Choice) -> None:
    data = tornado_data(choice)
    assert [row.title.lower() for row in data.rows] == [s.assumption for s in choice.swings]
    low, high = data.ends_usd
    assert low < min(row.low_usd for row in data.rows)
    assert high > max(row.high_usd for row in data.rows)
    figure = draw_tornado(data, LIGHT)
    assert figure.layout.xaxis.title.text == "Bill, USD"
    assert list(figure.data[0].x) == pytest.approx([s.width_usd for s in choice.swings])
    assert "Step time" in data.alt


def test_the_bills_cross_where_the_dot_is(choice: Choice) -> None:
    of = next(one for one in choice.break_evens if one.assumption == "step time")
    data = break_even_data(choice, of)
    assert data.crossing_pct is not None
    at = np.interp(data.crossing_pct, data.change_pct, data.chosen_usd)
    assert at == pytest.approx(data.rival_usd, rel=0.01)
    assert data.range_pct[0] < 0 < data.range_pct[1]
    figure = draw_break_even(data, DARK)
    assert "Bill, USD" in [note.text for note in figure.layout.annotations]
    assert figure.layout.xaxis.ticksuffix.endswith("%")
    assert len(figure.data) == 3


def test_bills_that_cross_nowhere_near_have_no_dot(choice: Choice) -> None:
    of = choice.break_evens[0].model_copy(update={"crossing": None})
    data = break_even_data(choice, of)
    assert data.crossing == "equal nowhere near"
    assert len(draw_break_even(data, LIGHT).data) == 2


def test_a_plan_alone_is_explained_without_a_rival(
    monkeypatch: pytest.MonkeyPatch, table: Evaluated, engine: Engine
) -> None:
    result = select(table, LIMITS)
    row = result.picks["cheapest"]
    alone = choice_of(table, np.array([row]), row, LIMITS, engine)
    monkeypatch.setattr(choosing, "choice_of", lambda *_: alone)
    test = open_page("advise", job=DEFAULT_JOB, why="true")
    assert not test.exception
    assert "There is no other plan within the limits to compare with." in text_of(test)
