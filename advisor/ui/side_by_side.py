"""The comparison: a card per plan, their bars on one scale, their properties line by line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from advisor.advice.plans import make_plan, row_of_key
from advisor.core.units import NBSP
from advisor.ui import basket
from advisor.ui.cards import badges, figures, machine_lines
from advisor.ui.charts.bars import part_marks
from advisor.ui.charts.cost_time import pick_labels
from advisor.ui.charts.side_by_side import (
    LETTERS,
    SideBySide,
    draw_side_by_side,
    side_by_side,
)
from advisor.ui.charts.style import CONFIG
from advisor.ui.comparison import comparison_lines, comparison_table
from advisor.ui.theme import palette

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.advice import Engine, Result
    from advisor.domain import Plan
    from advisor.search.search import Evaluated
    from advisor.ui.address import Address


@dataclass(frozen=True, slots=True)
class Chosen:
    """A plan of the comparison; ``label`` says for what it was picked, or is empty."""

    key: str
    plan: Plan
    label: str
    inside: bool


def find_plans(
    keys: Sequence[str], table: Evaluated, result: Result, engine: Engine, deadline_h: float | None
) -> list[Chosen]:
    """Return the plans that the keys name, without those that are not in the table."""
    labels = pick_labels(result.picks)
    inside = set(result.rows.tolist())
    rows = ((key, row_of_key(table.plans, key)) for key in keys)
    return [
        Chosen(key, make_plan(table, row, engine, deadline_h), labels.get(row, ""), row in inside)
        for key, row in rows
        if row is not None
    ]


def show_comparison(found: Sequence[Chosen], deadline_h: float | None, address: Address) -> None:
    """Draw cards, bars and table; a plan opens on Advise with what the address says."""
    with st.grid(len(found), min_column_width=160, gap="small"):
        for letter, one in zip(LETTERS, found, strict=False):
            _card(letter, one, deadline_h, address)
    plans = [one.plan for one in found]
    with st.grid(2, min_column_width=320, gap="small"):
        for data in side_by_side(plans, deadline_h):
            _panel(data)
    _table(plans, deadline_h)


def _card(letter: str, one: Chosen, deadline_h: float | None, address: Address) -> None:
    with st.container(border=True, height="stretch", gap="xsmall", key=f"plan_{letter}"):
        label = f" :small[:gray[{one.label}]]" if one.label else ""
        st.markdown(f"#### :primary[{letter}]{label}", anchors=False)
        machine_lines(one.plan)
        figures(one.plan, deadline_h)
        with st.container(height="stretch", vertical_alignment="bottom", gap="xsmall"):
            outside = "" if one.inside else ":red-badge[Outside the constraints] "
            st.markdown(outside + badges(one.plan))
            with st.container(horizontal=True, gap="xsmall"):
                if st.button("Open plan", key=f"open_{letter}", width="stretch"):
                    target = address | {"plan": one.key}
                    st.switch_page("advisor/ui/pages/advise.py", query_params=target)
                st.button("", key=f"remove_{letter}", icon=":material/close:",
                          help=f"Take {letter} out", on_click=basket.remove,
                          args=(one.key,))  # fmt: skip


def _panel(data: SideBySide) -> None:
    colours = palette()
    with st.container(border=True, height="stretch", gap="xsmall"):
        note = " :small[:gray[whiskers: 90 % interval]]" if data.whiskers else ""
        st.markdown(f"#### {data.title}{note}", anchors=False)
        st.plotly_chart(draw_side_by_side(data, colours), theme=None, config=CONFIG,
                        key=f"side_{data.title}", alt=data.alt)  # fmt: skip
        parts = data.bars[0].parts
        if len(parts) == 1:
            return
        named = zip(part_marks(data.bars[0], colours), parts, strict=True)
        marks = [f"{mark}{NBSP}{part.name.replace(' ', NBSP)}" for mark, part in named]
        st.markdown(f":small[{'  '.join(marks)}]")


def _table(plans: Sequence[Plan], deadline_h: float | None) -> None:
    lines = comparison_lines(plans, deadline_h)
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, horizontal_alignment="distribute",
                          vertical_alignment="center"):  # fmt: skip
            st.markdown("#### Line by line :small[:gray[≠ marks a difference, bold the best]]",
                        anchors=False, width="content")  # fmt: skip
            only = st.toggle("Only differences", key="differences", value=len(plans) > 1,
                             persist_state="session")  # fmt: skip
        shown = [line for line in lines if line.differs or not only]
        if shown:
            st.table(comparison_table(shown), border="horizontal", hide_index=True,
                     alt="Properties of the plans, line by line")  # fmt: skip
        else:
            st.markdown(":gray[The plans do not differ in anything listed.]")
