"""The answer on the Advise page: pick cards, chart, table, downloads."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import streamlit as st

from advisor.advice.advise import advice_of
from advisor.advice.currency import Currency
from advisor.advice.exports import front_csv
from advisor.advice.plans import plan_keys
from advisor.advice.probes import what_to_measure
from advisor.ui import basket
from advisor.ui.cards import show_cards
from advisor.ui.charts.carbon import carbon_data, carbon_known, draw_carbon
from advisor.ui.charts.cost_time import PICK_TITLES, cost_time_data, draw_cost_time
from advisor.ui.charts.style import CONFIG
from advisor.ui.choosing import show_choice
from advisor.ui.probing import show_probes
from advisor.ui.tables import front_table
from advisor.ui.theme import FAMILY_TITLES, MARKET_MARKS, MARKET_TITLES, palette, swatch

if TYPE_CHECKING:
    import pandas as pd

    from advisor.advice import Engine, Result
    from advisor.domain import Advice, Plan
    from advisor.search.constraints import Constraints
    from advisor.search.search import Evaluated
    from advisor.ui.charts.cost_time import CostTimeData


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """What the blocks of the page draw from."""

    table: Evaluated
    result: Result
    limits: Constraints
    engine: Engine
    current: Plan | None

    def advice(self, *, front: bool) -> Advice:
        """Return the advice; its front takes time and only the downloads need it."""
        rows = self.result.front if front else self.result.front[:0]
        result = dataclasses.replace(self.result, front=rows)
        return advice_of(self.table, result, self.engine, self.limits, self.current)


def open_plan(key: str) -> None:
    """Put a plan into the address (a callback); the page then shows its detail."""
    st.query_params["plan"] = key


def show_answer(answer: Answer) -> None:
    """Draw the cards, the chart and the table."""
    picks = answer.result.picks
    keys = plan_keys(answer.table.plans.iloc[list(picks.values())])
    show_cards(answer.advice(front=False).picks, answer.current, answer.limits.deadline_h,
               open_plan, dict(zip(picks, keys, strict=True)))  # fmt: skip
    _in_currency(answer)
    basket.show_basket()
    show_choice(answer)
    show_probes(answer)
    show_chart(answer)
    _front(answer)


def _in_currency(answer: Answer) -> None:
    """Say the costs of the picks in the user's currency, where one is chosen."""
    code = str(st.session_state.get("currency") or "")
    if code not in answer.engine.catalog.rates:
        return
    currency = Currency(code, *answer.engine.catalog.rates[code])
    cost = answer.table.plans["cost_usd"].to_numpy()
    said = " · ".join(
        f"{PICK_TITLES[name]} **{currency.words(float(cost[row]))}**"
        for name, row in answer.result.picks.items()
    )
    st.markdown(f"{said} :small[:gray[your rate: {currency.rate_words}]]")


def show_chart(answer: Answer, title: str = "Cost against time") -> None:
    """Draw cost against time; with nothing feasible it shows what is near."""
    data = cost_time_data(answer.table, answer.result, answer.limits)
    if not len(data.rows):
        return
    with st.container(border=True, gap="xsmall"):
        head, choice = st.columns([4, 1], vertical_alignment="center")
        choosing = choice.toggle(
            "Choose dots",
            key="choosing",
            persist_state="session",
            help="A click on a dot adds its plan to the comparison.",
        )
        if st.session_state.get("against_time") == "Carbon" and carbon_known(answer.table.plans):
            title = "Carbon against time"
        click = "click dots to compare their plans" if choosing else "click a dot to open its plan"
        head.markdown(
            f"#### {title} :small[:gray[{len(data.rows)} of {data.total:,} plans · "
            f"whiskers: 90 % interval · {click}]]",
            anchors=False,
        )
        _legend(answer.table.plans.iloc[data.rows])
        if carbon_known(answer.table.plans) and _carbon_chosen():
            _carbon_chart(answer, data)
            return
        # Another key for each use: a selection of one is no selection of the other.
        key = "chosen_dots" if choosing else "cost_time"
        st.plotly_chart(
            draw_cost_time(answer.table, data, palette()), theme=None, config=CONFIG, key=key,
            on_select=_choose_dots if choosing else _open_dot, selection_mode="points",
            alt="Cost of the finished job against time to finish, one dot per plan",
        )  # fmt: skip


def _carbon_chosen() -> bool:
    """Let the user choose what stands against time; only asked where emissions are known."""
    # Radio buttons, as a chosen segment cannot be read well in the dark.
    chosen = st.radio("Against time", ("Cost", "Carbon"), key="against_time", horizontal=True,
                      persist_state="session", label_visibility="collapsed")  # fmt: skip
    return chosen == "Carbon"


def _carbon_chart(answer: Answer, data: CostTimeData) -> None:
    plans = answer.table.plans
    emitted = carbon_data(plans, data)
    left_out = len(data.rows) - len(emitted.rows)
    if not len(emitted.rows):
        st.markdown(":gray[Of none of these plans the emissions are available.]")
        return
    st.plotly_chart(
        draw_carbon(plans, emitted, answer.limits.deadline_h, palette()), theme=None,
        config=CONFIG, key="carbon_time", on_select=lambda: _open_dot("carbon_time"),
        selection_mode="points",
        alt="Emissions of the job against time to finish, one dot per plan",
    )  # fmt: skip
    if left_out:
        st.markdown(f":small[:gray[Emissions of {left_out:,} plans are not available: no grid of "
                    "their region in your table, or no design power.]]")  # fmt: skip


def _dots(key: str) -> list[str]:
    points = st.session_state[key]["selection"]["points"]
    return [str(point["customdata"]) for point in points if point.get("customdata")]


def _open_dot(chart: str = "cost_time") -> None:
    for key in _dots(chart):
        open_plan(key)


def _choose_dots() -> None:
    basket.add(*_dots("chosen_dots"))


def _legend(shown: pd.DataFrame) -> None:
    colours = palette()
    families = [name for name in shown["family"].cat.categories if (shown["family"] == name).any()]
    marks = [f"{swatch(colours.family(n))} {FAMILY_TITLES.get(n, n)}" for n in families]
    markets = dict.fromkeys(str(market) for market in shown["market"])
    shapes = [f"{MARKET_MARKS[m]} {MARKET_TITLES[m]}" for m in markets]
    for title, entries in (("Family", marks), ("Market", shapes)):
        st.markdown(f":small[:gray[{title}] {'  '.join(entries)}]")


def _front(answer: Answer) -> None:
    shown = front_table(answer.table, answer.result, answer.limits.deadline_h)
    keys = list(shown.index)
    colours = palette()
    marks = [f"color: {colours.family(name)}" for name in shown.pop("family")]
    with st.container(border=True, gap="xsmall"):
        st.markdown("#### Front and neighbours :small[:gray[click a row to open its plan, tick "
                    "rows to compare them]]", anchors=False)  # fmt: skip
        st.dataframe(
            shown.style.apply(lambda _: marks, subset=[""]), hide_index=True, key="front",
            on_select=lambda: _take_rows(keys), selection_mode=("multi-row", "single-cell"),
            column_config=_columns(shown), alt="Plans on the front and near it",
        )  # fmt: skip
        with st.container(horizontal=True, gap="xsmall"):
            st.download_button("CSV", lambda: _csv(answer), "advice.csv", "text/csv",
                               icon=":material/download:", on_click="ignore")  # fmt: skip
            st.download_button("JSON", lambda: _json(answer), "advice.json", "application/json",
                               icon=":material/download:", on_click="ignore")  # fmt: skip


def _csv(answer: Answer) -> str:
    return front_csv(answer.advice(front=True))


def _json(answer: Answer) -> str:
    found = what_to_measure(answer.table, answer.result.rows, answer.limits, answer.engine)
    advice = answer.advice(front=True).model_copy(update={"probes": found})
    return advice.model_dump_json(indent=1)


def _take_rows(keys: list[str]) -> None:
    """Open the plan of a clicked cell; put ticked rows into the comparison, unticked ones out."""
    selection = st.session_state["front"]["selection"]
    if selection["cells"]:
        open_plan(keys[selection["cells"][0][0]])
        return
    ticked = [keys[row] for row in selection["rows"]]
    before = st.session_state.get("ticked", [])
    st.session_state["ticked"] = ticked
    for key in before:
        if key not in ticked:
            basket.remove(key)
    basket.add(*(key for key in ticked if key not in before))


def _columns(shown: pd.DataFrame) -> dict[str, Any]:
    config: dict[str, Any] = {
        "Pick": st.column_config.TextColumn(width=84),
        "": st.column_config.TextColumn(width=32),
        "Cost, USD": st.column_config.NumberColumn(format="localized", width=76),
        "Time, h": st.column_config.NumberColumn(format="%.1f", width=64),
    }
    chances = {name for name in shown.columns if name.startswith("In ")}
    return config | {
        name: st.column_config.NumberColumn(format="%.1f", width=76) for name in chances
    }
