"""The pick cards: machines, cost and time with intervals, chance, reason, badges."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

import streamlit as st

from advisor.advice import terms
from advisor.advice.interruptions import chance_words
from advisor.core.units import NBSP, hours, interval, number, percent, usd
from advisor.ui import basket
from advisor.ui.charts.cost_time import PICK_TITLES
from advisor.ui.text import plain
from advisor.ui.theme import MARKET_TITLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.domain import Interruptions, Plan
    from advisor.domain.advice import Pick

ICONS: Final = {
    "cheapest": "savings", "fastest": "bolt", "best_value": "balance", "safest": "shield",
    "today": "schedule",
}  # fmt: skip
BASIS_BADGES: Final = {
    "measured": ":green-badge[:material/straighten: Measured]",
    "calibrated": ":blue-badge[:material/tune: Calibrated]",
    "interpolated": ":gray-badge[:material/show_chart: Interpolated]",
    "extrapolated": ":orange-badge[:material/trending_up: Extrapolated]",
}
FRESH_DAYS: Final = 1


def show_cards(
    picks: dict[str, Pick], current: Plan | None, deadline_h: float | None,
    open_plan: Callable[[str], None], keys: dict[str, str],
) -> None:  # fmt: skip
    """Draw one card per pick, after the set-up of today where there is one."""
    with st.grid(len(picks) + (current is not None), min_column_width=160, gap="small"):
        if current is not None:
            with st.container(border=True, height="stretch", gap="xsmall"):
                _head("today", "Today", current)
                figures(current, deadline_h)
                st.markdown(badges(current))
        for name, pick in picks.items():
            with st.container(border=True, height="stretch", gap="xsmall", key=f"card_{name}"):
                _head(name, PICK_TITLES[name], pick.plan)
                figures(pick.plan, deadline_h)
                st.markdown(f":small[{saving_words(pick)}{plain(pick.reason)}]")
                terms_lines(pick.plan)
                with st.container(height="stretch", vertical_alignment="bottom", gap="xsmall"):
                    st.markdown(badges(pick.plan))
                    with st.container(horizontal=True, gap="xsmall"):
                        st.button("Open plan", key=f"open_{name}", width="stretch",
                                  on_click=open_plan, args=(keys[name],))  # fmt: skip
                        basket.toggle_button(keys[name], name, icon_only=True)


def _head(name: str, title: str, plan: Plan) -> None:
    st.markdown(f"#### :primary[:material/{ICONS[name]}:] {title}", anchors=False)
    machine_lines(plan)


def machine_lines(plan: Plan) -> None:
    """Draw the machines of a plan, its accelerators, its place and market."""
    group = plan.cluster.groups[0]
    st.markdown(f"**{plan.cluster}**")
    market = MARKET_TITLES[plan.offer.market]
    st.markdown(
        f":small[:gray[{plan.cluster.accelerators:g} × {group.accelerator}]]  \n"
        f":small[:gray[{group.cloud} {group.region} · {market}]]"
    )


def terms_lines(plan: Plan) -> None:
    """Draw what the user's discounts and credits change, where there are any."""
    for said in terms.sentences(plan):
        st.markdown(f":small[:green[:material/redeem:] {plain(said)}]")


def figures(plan: Plan, deadline_h: float | None) -> None:
    """Draw cost and time with their intervals, and the chance to meet the deadline.

    Where nothing is known of interruptions they are bounds, and say so.
    """
    bound = plan.interruptions is not None and not plan.interruptions.known
    least, of = ("≥ ", "at least") if bound else ("", "90 %")
    with st.grid(2, min_column_width=84, gap="xsmall"):
        cost, time = plan.cost_usd, plan.hours
        st.metric(f"Cost, {of}", f"{least}{usd(cost.value)}",
                  None if bound else interval(number(cost.low), number(cost.high)),
                  delta_color="off", delta_arrow="off")  # fmt: skip
        bounds = interval(*(hours(v, like=time.value) for v in (time.low, time.high)))
        st.metric(f"Time, {of}", f"{least}{hours(time.value)}{NBSP}h", None if bound else bounds,
                  delta_color="off", delta_arrow="off")  # fmt: skip
    if deadline_h is not None and plan.deadline_probability is not None:
        within = f"Within {hours(deadline_h)}{NBSP}h: {'at most ' if bound else ''}"
        st.progress(min(1.0, plan.deadline_probability),
                    text=f"{within}**{percent(plan.deadline_probability)}**")  # fmt: skip


def saving_words(pick: Pick) -> str:
    """Return the saving against today's set-up as a sentence, or nothing."""
    if pick.saving_usd is None or pick.saving_hours is None:
        return ""
    money = "less" if pick.saving_usd >= 0 else "more"
    time = "sooner" if pick.saving_hours >= 0 else "later"
    return (
        rf"**\{usd(abs(pick.saving_usd))} {money}**, {hours(abs(pick.saving_hours))}{NBSP}h {time} "
        "than today. "
    )


def badges(plan: Plan) -> str:
    """Return the badges of a plan: basis of the prediction, age of the price, interruptions."""
    return f"{BASIS_BADGES[plan.cost_usd.basis]} {price_badge(plan)} {spot_badge(plan)}".rstrip()


def spot_badge(plan: Plan) -> str:
    """Return the chance to be interrupted; orange where nothing is known, empty on demand."""
    return interruption_badge(plan.interruptions)


def interruption_badge(interruptions: Interruptions | None) -> str:
    """Return the badge of what is known of interruptions, empty where there are none."""
    if interruptions is None:
        return ""
    words = chance_words(interruptions)
    if not interruptions.known:
        return f":orange-badge[:material/power_off: {words}]"
    return f":gray-badge[:material/power_off: {words}]"


def price_badge(plan: Plan, today: dt.date | None = None) -> str:
    """Return the age of the price; orange where it is old or unknown."""
    as_of = plan.offer.as_of
    if as_of is None:
        return ":orange-badge[:material/sell: Price undated]"
    days = ((today or dt.datetime.now(tz=dt.UTC).date()) - as_of).days
    colour = "gray" if days <= FRESH_DAYS else "orange"
    return f":{colour}-badge[:material/sell: Price {days}{NBSP}d old]"
