"""The panel of a plan that shows the same machines in every market."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from advisor.advice.interruptions import chance_of, interruptions_of
from advisor.advice.markets import market_rows
from advisor.core.units import NBSP, hours, interval, number, percent, usd
from advisor.search.finish import deadline_probability
from advisor.ui.text import plain
from advisor.ui.theme import MARKET_TITLES

if TYPE_CHECKING:
    from advisor.search.search import Evaluated


def show_markets(evaluated: Evaluated, row: int, deadline_h: float | None) -> None:
    """Draw the table; nothing where the machines are offered in one market only."""
    shown = markets_table(evaluated, row, deadline_h)
    if len(shown) < 2:
        return
    with st.container(border=True, gap="xsmall"):
        st.markdown("#### The same machines in every market", anchors=False)
        st.table(shown, border="horizontal", hide_index=True)


def markets_table(evaluated: Evaluated, row: int, deadline_h: float | None) -> pd.DataFrame:
    """Return one row per market as text, cheapest first, that of the plan in bold."""
    rows = market_rows(evaluated.plans, row)
    table = evaluated.plans.iloc[rows]
    columns = {
        "Market": [MARKET_TITLES[str(market)] for market in table["market"]],
        "A machine, USD/h": [number(value) for value in table["usd_per_h"]],
        "Cost, 90 %": [
            f"{usd(value)} ({interval(number(low), number(high))})"
            for value, low, high in table[["cost_usd", "cost_low_usd", "cost_high_usd"]].itertuples(
                index=False
            )
        ],
        "Time, 90 %": [
            f"{hours(value)}{NBSP}h ({interval(hours(low, like=value), hours(high, like=value))})"
            for value, low, high in table[["hours", "hours_low", "hours_high"]].itertuples(
                index=False
            )
        ],
    }
    if deadline_h is not None:
        chances = deadline_probability(table, deadline_h)
        columns[f"Within {hours(deadline_h)}{NBSP}h"] = [percent(float(c)) for c in chances]
    columns["Interrupted"] = [
        chance_of(interruptions_of(table.iloc[place])) for place in range(len(table))
    ]
    cells = pd.DataFrame(columns).map(plain)
    own = rows.tolist().index(row)
    cells.iloc[own] = [f"**{text}**" for text in cells.iloc[own]]
    return cells
