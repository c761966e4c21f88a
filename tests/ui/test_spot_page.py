"""Spot on the page: the panel of a plan, the heat map, own machines, a job that runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ui_apps import open_page, text_of

from advisor import catalog as catalogs
from advisor.transient.history import lifetime_of_history, read_history
from advisor.ui.charts.spot import (
    by_age,
    by_band,
    by_hour_of_day,
    curves_of,
    draw_curves,
    draw_heat_map,
)
from advisor.ui.spot_history import draw_survival
from advisor.ui.theme import DARK, LIGHT

JOB = "ResNet-50 · 90 epochs · batch 256"
KNOWN = "aws~g4dn.12xlarge~us-east-1~spot~4"
UNKNOWN = "gcp~a3-highgpu-8g~us-central1~spot~1"
# No cloud sells these on demand.
SPOT_ONLY = "gcp~a3-highgpu-2g~us-central1~spot~1"
DEMAND = "aws~g4dn.12xlarge~us-east-1~on_demand~4"


@pytest.fixture(autouse=True)
def trained(engine: object, engine_data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(engine_data_dir))


def test_a_plan_on_spot_shows_its_policies_and_the_data_behind_them() -> None:
    test = open_page("advise", job=JOB, deadline="20", plan=KNOWN)
    said = text_of(test)
    assert "Rests on: 10–15 % of machines interrupted" in said.replace("\\", "")
    assert "n not published" in said
    assert "Asynchronous workers cost accuracy" in said
    policy = test.selectbox(key="spot_policy")
    assert len(policy.options) >= 6
    before = {metric.label: metric.value for metric in test.metric}
    policy.set_value("on_demand").run()
    after = {metric.label: metric.value for metric in test.metric}
    assert after["Interruptions a run"] == "0"
    assert after["Cost, mean, 90 %"] != before["Cost, mean, 90 %"]


def test_interval_and_samples_change_what_is_shown() -> None:
    test = open_page("advise", job=JOB, deadline="20", plan=KNOWN)
    test.selectbox(key="spot_policy").set_value("chief_handover").run()
    cost = {metric.label: metric.value for metric in test.metric}["Cost, mean, 90 %"]
    test.number_input(key="spot_samples").set_value(1.5).run()
    dearer = {metric.label: metric.value for metric in test.metric}["Cost, mean, 90 %"]
    assert float(dearer.strip("$")) > 1.3 * float(cost.strip("$"))
    assert "1.50 times the samples are priced" in text_of(test)
    test.select_slider(key="spot_interval").set_value(1).run()
    assert not test.exception


def test_a_market_without_data_shows_the_bound() -> None:
    said = text_of(open_page("advise", job=JOB, deadline="20", plan=UNKNOWN))
    assert "No interruption data for this market: bound shown" in said
    assert "At least" in said


def test_machines_that_die_at_once_get_nothing_ahead_and_the_page_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = "2026-11-01 06:00:00,2026-11-01 06:00:02,1\n" * 40
    known = lifetime_of_history(read_history("start,stop,revoked\n" + rows))
    monkeypatch.setattr("advisor.ui.spot_panel.own_history", lambda: known)
    said = text_of(open_page("advise", job=JOB, deadline="20", plan=SPOT_ONLY))
    assert "Under no policy does the job get ahead" in said
    assert "Not here: " in said


def test_a_plan_on_demand_keeps_the_panel_closed() -> None:
    test = open_page("advise", job=JOB, deadline="20", plan=DEMAND)
    text_of(test)
    assert not any(box.key == "spot_policy" for box in test.selectbox)


def test_the_page_shows_the_map_and_asks_for_a_log() -> None:
    test = open_page("spot")
    said = text_of(test)
    assert "Where and when machines were taken" in said
    assert "396 machines" in said
    for kind, words in (("Hour of the day", "nor the time zone"), ("Published bands", "2025")):
        test.radio(key="spot_map").set_value(kind).run()
        assert words in text_of(test)


def test_cells_of_the_map_are_counts_of_the_tables() -> None:
    age, day = by_age(), by_hour_of_day()
    assert age.cells.shape == (12, 24)
    assert day.cells.shape == (3, 24)
    assert day.cells.to_numpy().sum() == 72 + 65 + 69
    row = next(name for name in age.cells.index if name.startswith("V100 us-central1"))
    assert age.cells.loc[row, 1] == pytest.approx(100 * 20 / 30)
    assert age.says.loc[row, 1] == (
        "V100, us-central1, hour 1 of its age: 20 of 30 machines taken, 2019"
    )


def test_places_that_publish_nothing_stay_blank() -> None:
    bands = by_band(catalogs.load())
    assert np.isnan(bands.cells.to_numpy()).any()
    assert not bands.cells.isna().all(axis=None)
    for colours in (LIGHT, DARK):
        for data in (by_age(), bands):
            (trace,) = draw_heat_map(data, colours).data
            assert trace.z.shape == data.cells.shape
            assert trace.hoverongaps is False


def test_curves_are_shares_of_the_runs() -> None:
    curves = curves_of({"a": np.array([1.0, 2, 3, 4]), "b": np.array([2.0, 2, 2, 2])}, 3.0)
    for chance in curves.chance.values():
        assert (np.diff(chance) >= 0).all()
    assert np.interp(2.5, curves.hours, curves.chance["a"]) == pytest.approx(0.5)
    figure = draw_curves(curves, LIGHT)
    assert len(figure.data) == 2
    assert "<b>75" in figure.layout.annotations[0].text


def test_own_machines_have_a_curve_beside_the_measured_ones() -> None:
    rows = "".join(f"2026-11-{day:02d},2026-11-{day:02d} 06:00,1\n" for day in range(1, 9))
    known = lifetime_of_history(read_history("start,stop,revoked\n" + rows))
    own, measured = draw_survival(known, DARK).data
    assert own.name == "yours"
    assert own.y[0] == measured.y[0] == 100
    assert own.y[-1] < measured.y[-1]
