"""Accuracy: how far predictions lay from measurements that they had not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from advisor import catalog as catalogs
from advisor.advice.board_scores import (
    LEVELS,
    board_table,
    coverage_against_nominal,
    record_scores,
    scores_by,
    share_inside,
    track_record,
    with_hardware,
)
from advisor.advice.boards import Boards, Stamp, read_boards, read_points
from advisor.core.errors import AdvisorError
from advisor.core.units import interval, number
from advisor.store import Store
from advisor.ui import notices
from advisor.ui.address import restore
from advisor.ui.charts.coverage import draw_coverage
from advisor.ui.charts.predicted_measured import draw_scatter, scatter_data
from advisor.ui.charts.style import CONFIG
from advisor.ui.refitting import show_refits
from advisor.ui.state import inputs_of, session_values
from advisor.ui.text import plain
from advisor.ui.theme import FAMILY_TITLES, palette, swatch

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from advisor.advice.boards import Board

BREAKDOWNS: Final = {"What was new": "group", "Model family": "family", "Accelerator": "hardware"}
_PERCENT: Final = st.column_config.NumberColumn(format="%.1f %%")
_WHOLE: Final = st.column_config.NumberColumn(format="localized")
SCORES: Final = {"runs": "Runs", "median_ape": "Median off", "mape": "Mean off", "bias": "Bias",
                 "coverage": "Inside 90 %"}  # fmt: skip


def show_boards(boards: Boards) -> None:
    """Draw one row per board, bars that fail shown as failing."""
    _caution(boards)
    table = board_table(boards.boards)
    table["verdict"] = ["✓ holds" if not fails else f"✗ {fails} fail{'s' * (fails == 1)}"
                        for fails in table["fails"]]  # fmt: skip
    names = {"title": "Board", "verdict": "Bars", "runs": "Runs", "median_ape": "Median off",
             "mape": "Mean off", "coverage": "Inside 90 %", "held_out": "Held out",
             "runs_of": "Which runs", "bars": "Bars in detail"}  # fmt: skip
    st.dataframe(
        table[list(names)].rename(columns=names),
        hide_index=True,
        column_config={"Runs": _WHOLE, "Median off": _PERCENT, "Mean off": _PERCENT,
                       "Inside 90 %": _PERCENT},
    )  # fmt: skip
    days = sorted({f"{board.measured_at:%Y-%m-%d}" for board in boards.boards})
    st.markdown(
        ":small[:gray[*Off* is how far a predicted step lies from the measured one. *Inside* is "
        "the share of measured steps inside their 90 % interval: 90 % is right, more is too "
        f"cautious. Measured {interval(days[0], days[-1]) if len(days) > 1 else days[0]} by "
        "`python -m benchmarks.accuracy --store`.]]"
    )


def _caution(boards: Boards) -> None:
    if boards.outdated(Stamp.today(catalogs.load(("snapshot",)))):
        with st.container(border=True, key="outdated"):
            st.markdown(
                ":orange[:material/history:] **Some boards were measured with other runs or "
                "another version of the predictor** than today's. Measure again with "
                "`python -m benchmarks.accuracy --store`."
            )


def show_points(boards: list[Board]) -> None:
    """Draw predicted against measured of one board, and its errors by group."""
    st.markdown("### Predicted against measured", anchors=False)
    chosen = boards[0]
    if len(boards) > 1:
        by_title = {board.title: board for board in boards}
        title = st.radio("Board", list(by_title), key="board", horizontal=True,
                         label_visibility="collapsed")  # fmt: skip
        chosen = by_title[title]
    points = with_hardware(read_points(chosen), catalogs.load())
    data = scatter_data(points)
    colours = palette()
    marks = [f"{swatch(colours.family(name))} {FAMILY_TITLES.get(name, name)}"
             for name in data.families]  # fmt: skip
    st.markdown(f":small[{'&ensp;'.join(marks)}]")
    st.plotly_chart(draw_scatter(data, colours), config=CONFIG, key="scatter")
    shown = f"{len(data.dots):,} of {data.total:,} runs" if len(data.dots) < data.total else (
        f"{data.total:,} runs")  # fmt: skip
    st.markdown(
        f":small[:gray[{shown}; held out: {plain(chosen.held_out)}. On the dashed line the "
        "prediction is right, inside the band it is wrong by less than a factor of two.]]"
    )
    by = st.radio("Errors by", list(BREAKDOWNS), key="breakdown", horizontal=True)
    show_scores(points, by)


def show_coverage(boards: Iterable[Board]) -> None:
    """Draw how many measurements the intervals held, against what they promise."""
    coverage = coverage_against_nominal(boards)
    if coverage.empty:
        return
    st.markdown("### Coverage against nominal", anchors=False)
    levels = [level for level in LEVELS if level in set(coverage["nominal"])]
    level = st.radio("Interval", levels, format_func=lambda level: f"{level} %", key="level",
                     horizontal=True)  # fmt: skip
    chosen = coverage[coverage["nominal"] == level]
    st.plotly_chart(draw_coverage(chosen, level, palette()), config=CONFIG, key="coverage")
    inside = int(chosen["covered"].between(chosen["low"], chosen["high"]).sum())
    st.markdown(
        f":small[:gray[One dot per board, {inside} of {len(chosen)} within the band that chance "
        "alone explains if runs are independent (95 of 100 boards would lie there). Below it "
        "intervals were too narrow, above it too wide.]]"
    )


def show_scores(points: pd.DataFrame, by: str) -> None:
    """Draw errors and coverage by group."""
    scores = scores_by(points, BREAKDOWNS[by]).rename(columns=SCORES)
    titles = [FAMILY_TITLES.get(str(name), str(name)).capitalize() if by != "Accelerator" else
              FAMILY_TITLES.get(str(name), str(name)) for name in scores.index]  # fmt: skip
    scores.insert(0, by, titles)
    _score_table(scores)


def _score_table(scores: pd.DataFrame) -> None:
    percent = {name: _PERCENT for name in SCORES.values() if name != "Runs"}
    st.dataframe(scores, hide_index=True, column_config=percent | {"Runs": _WHOLE})


def show_record() -> None:
    """Draw finished runs of saved plans beside their predictions."""
    st.markdown("### Your own track record", anchors=False)
    with Store.open() as store:
        record = track_record(store.plans())
    share = share_inside(record)
    if share is None:
        with st.container(width=760), st.container(border=True, gap="xsmall", key="empty"):
            st.markdown("#### :primary[:material/flag:] No run has come back yet", anchors=False)
            st.markdown(
                ":gray[Save a plan, run it, and record on Plans what it took: it then stands here "
                "beside its prediction.]"
            )
            st.page_link("advisor/ui/pages/plans.py", label="Record a run on Plans",
                         icon=":material/arrow_forward:")  # fmt: skip
        return
    inside = int(record["inside"].sum())
    st.markdown(
        f"**{inside:,} of {len(record):,}** recorded figures lie inside their 90 % interval "
        f"({100 * share:.0f} %)."
    )
    _score_table(record_scores(record).rename(columns=SCORES).reset_index(names="Quantity"))
    st.dataframe(record_table(record), hide_index=True)


def record_table(record: pd.DataFrame) -> pd.DataFrame:
    """Return a track record as it is shown."""
    bounds = zip(record["low"], record["high"], strict=True)
    return record.assign(
        Predicted=record["predicted"].map(number) + " " + record["unit"],
        Interval=[interval(number(low), number(high)) for low, high in bounds],
        Measured=record["measured"].map(number) + " " + record["unit"],
        Inside=["✓ inside" if inside else "✗ outside" for inside in record["inside"]],
        Recorded=[f"{at:%Y-%m-%d}" for at in record["recorded_at"]],
    ).rename(columns={"plan": "Plan", "quantity": "Quantity", "Interval": "90 % interval"})[
        ["Plan", "Quantity", "Predicted", "90 % interval", "Measured", "Inside", "Recorded"]
    ]


# The widgets of Advise are not here: without this their values would be forgotten.
restore(inputs_of(session_values()))
st.markdown("# Accuracy", anchors=False)
st.markdown(
    ":gray[Each board keeps something from the predictor, predicts it, and compares with what was "
    "measured.]"
)
try:
    stored = read_boards()
    if stored.boards:
        show_boards(stored)
    else:
        with st.container(width=760, border=True, key="no_boards"):
            st.markdown("No board has been measured yet: run `python -m benchmarks.accuracy "
                        "--store`.")  # fmt: skip
    with_points = [board for board in stored.boards if board.points]
    if with_points:
        show_points(with_points)
    show_coverage(stored.boards)
    show_record()
    show_refits()
except AdvisorError as error:
    notices.not_understood(error)
