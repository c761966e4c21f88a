"""The panel of a plan on spot: every policy, the curve of the finish, other numbers of machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd
import streamlit as st

from advisor.advice.spot import finish_hours, spot_advice
from advisor.advice.spot_job import SpotOptions, known_of, spot_job, spot_row
from advisor.advice.spot_words import BOUND_SHOWN, basis_words, policy_saving
from advisor.core.errors import AdvisorError
from advisor.core.units import HOUR_S, NBSP, duration, hours, interval, number, percent, usd
from advisor.transient import Draws
from advisor.transient.price_history import read_prices
from advisor.ui import notices
from advisor.ui.charts.spot import curves_of, draw_curves
from advisor.ui.charts.style import CONFIG
from advisor.ui.spot_history import own_history
from advisor.ui.text import plain
from advisor.ui.theme import palette

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.advice import Engine
    from advisor.domain.spot import PolicyOutcome, SpotAdvice
    from advisor.search.constraints import Constraints
    from advisor.search.search import Evaluated

RUNS: Final = 2_000
MINUTES: Final = (1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 1440)
YOUNG: Final = "Young's rule"
MOST_PRICES_MB: Final = 20


def show_spot(evaluated: Evaluated, row: int, limits: Constraints, engine: Engine) -> None:
    """Draw the panel, open where the plan is on spot; nothing where it is not offered there."""
    spot = spot_row(evaluated.plans, row)
    if spot is None:
        return
    opened = st.expander(
        "On spot machines: policies, odds, other numbers", icon=":material/bolt:",
        on_change="rerun", key="spot_panel", expanded=spot == row,
    )  # fmt: skip
    if opened.open:
        with opened:
            try:
                _panel(evaluated, spot, limits, engine)
            except AdvisorError as error:
                notices.not_understood(error)


def _panel(evaluated: Evaluated, row: int, limits: Constraints, engine: Engine) -> None:
    plan = evaluated.plans.iloc[row]
    options = _controls(float(plan["training_h"]) * HOUR_S)
    advice = spot_advice(evaluated, row, engine.catalog, limits, options, RUNS)
    _data(advice)
    known = options.history or known_of(plan, engine.catalog)
    able = any(one.cost_usd is not None for one in advice.policies)
    if known is not None and able:
        left, right = st.columns([3, 2], gap="small")
        with right:
            chosen = _choice(advice)
            _figures(chosen, limits)
        with left:
            job = spot_job(evaluated, row, known, limits, options)
            finished = {
                label: runs
                for label, name in ((chosen.label, chosen.policy), ("on demand", "on_demand"))
                if (runs := finish_hours(job, name, options, Draws(RUNS))) is not None
            }
            if finished:
                st.plotly_chart(
                    draw_curves(curves_of(finished, limits.deadline_h), palette()), theme=None,
                    config=CONFIG, key="spot_curves",
                    alt=f"Chance to be done against hours: {', '.join(finished)}",
                )  # fmt: skip
        st.table(policies_table(advice, limits.deadline_h), border="horizontal", hide_index=True)
    elif known is not None:
        st.markdown(":orange[:material/warning:] **Under no policy does the job get ahead on spot "
                    "machines that live so briefly.**")  # fmt: skip
    reasons = [f"{one.label}: {one.reason}" for one in advice.policies if one.reason]
    if reasons:
        st.markdown(f":small[:gray[Not here: {plain('; '.join(reasons))}.]]")
    _other_counts(advice, limits.deadline_h)
    for caveat in advice.caveats:
        st.markdown(f":small[:orange[:material/warning:] :gray[{plain(caveat)}]]")


def _controls(work_s: float) -> SpotOptions:
    """Draw the interval, the price ceiling and the samples, and return what they say."""
    settings, samples = st.columns(2, gap="small", vertical_alignment="bottom")
    with settings.popover("Checkpoint interval, price ceiling", icon=":material/tune:",
                          width="stretch"):  # fmt: skip
        shorter = [YOUNG, *(m for m in MINUTES if m * 60 <= work_s)]
        minutes = st.select_slider("Checkpoint every", shorter, key="spot_interval",
                                   format_func=_every)  # fmt: skip
        history, ceiling = _ceiling()
    factor = samples.number_input(
        "Samples to target, asynchronous", min_value=1.0, max_value=100.0, value=1.0, step=0.1,
        format="%.2f", key="spot_samples",
        help="How many times the samples asynchronous workers need for the same accuracy; it is "
        "priced.",
    )  # fmt: skip
    return SpotOptions(
        interval_s=None if isinstance(minutes, str) else 60.0 * minutes,
        history=own_history(),
        prices_usd_per_h=history,
        ceiling_usd_per_h=ceiling,
        samples_factor=float(factor),
    )


def _every(choice: str | int) -> str:
    return choice if isinstance(choice, str) else duration(60.0 * choice)


def _ceiling() -> tuple[tuple[float, ...], float | None]:
    """Draw the ceiling where there are prices to set it against."""
    file = st.file_uploader("Price history, CSV", type="csv", key="spot_prices",
                            max_upload_size=MOST_PRICES_MB)  # fmt: skip
    if file is None:
        st.markdown(":small[:gray[A CSV with *time* and *usd_per_h* of one machine; with it a "
                    "ceiling can be set. No cloud publishes enough of it to ship.]]")  # fmt: skip
        return (), None
    prices = read_prices(file.getvalue().decode("utf-8", errors="replace"))
    low, high = min(prices.usd_per_h), max(prices.usd_per_h)
    if low == high:
        return prices.usd_per_h, high
    ceiling = st.slider("Price ceiling, USD/h", low, high, high, key="spot_ceiling")
    st.markdown(f":small[:gray[{percent(prices.share_at_or_below(ceiling))} of the "
                f"{len(prices.usd_per_h):,} h at or below it]]")  # fmt: skip
    return prices.usd_per_h, ceiling


def _data(advice: SpotAdvice) -> None:
    if advice.data is not None:
        st.markdown(f":small[:gray[{plain(basis_words(advice.data))}]]")
        return
    st.markdown(
        f":orange[:material/help:] **{BOUND_SHOWN[:1].upper()}{BOUND_SHOWN[1:]}.** At least "
        rf"{hours(advice.least_h)}{NBSP}h and {plain(usd(advice.least_usd))}, without any "
        "interruption. Your own machines' start and stop times, given on *Spot*, fill the gap."
    )


def _choice(advice: SpotAdvice) -> PolicyOutcome:
    able = {one.policy: one for one in advice.policies if one.cost_usd is not None}
    names = list(able)
    first = names.index(advice.best) if advice.best in names else 0
    chosen = st.selectbox("Policy", names, index=first, key="spot_policy",
                          format_func=lambda name: able[name].label)  # fmt: skip
    return able.get(chosen, able[names[0]])


def _figures(one: PolicyOutcome, limits: Constraints) -> None:
    if one.cost_usd is None or one.hours is None:
        return
    cost, time = one.cost_usd, one.hours
    facts = [
        ("Cost, mean, 90 %", usd(cost.value), interval(number(cost.low), number(cost.high))),
        ("Time, mean, 90 %", f"{hours(time.value)}{NBSP}h",
         interval(*(hours(b, like=time.value) for b in (time.low, time.high)))),
        ("Cost, 90th percentile", usd(one.p90_usd), None),
        ("Interruptions a run", number(one.interruptions, 2), None),
        ("Paid but wasted", percent(one.wasted_share), None),
        ("Saved on demand", policy_saving(one).split(" (", maxsplit=1)[0] or "not available",
         None),
    ]  # fmt: skip
    if limits.deadline_h is not None:
        within = f"Within {hours(limits.deadline_h)}{NBSP}h"
        facts.insert(2, (within, percent(one.deadline_probability), None))
    if limits.budget_usd is not None:
        facts.insert(3, (f"Within {usd(limits.budget_usd)}", percent(one.budget_probability), None))
    with st.grid(2, min_column_width=110, gap="xsmall"):
        for label, value, bounds in facts:
            st.metric(label, value, bounds, delta_color="off", delta_arrow="off")


def policies_table(advice: SpotAdvice, deadline_h: float | None) -> pd.DataFrame:
    """Return one row per policy that applies as text, cheapest first, the best in bold."""
    rows = []
    for one in advice.policies:
        if one.cost_usd is None or one.hours is None:
            continue
        cost, time = one.cost_usd, one.hours
        bounds = interval(*(hours(b, like=time.value) for b in (time.low, time.high)))
        cells = {
            "Policy": one.label,
            "Cost, mean, 90 %": usd(cost.value) + _bounds(number, (cost.low, cost.high)),
            "Time, mean, 90 %": f"{hours(time.value)}{NBSP}h ({bounds})",
            "Interruptions a run": number(one.interruptions, 2),
            "Wasted": percent(one.wasted_share),
            "Saves, 90 %": policy_saving(one),
        }
        if deadline_h is not None:
            cells[f"Within {hours(deadline_h)}{NBSP}h"] = percent(one.deadline_probability)
        rows.append(_escaped(cells, bold=one.policy == advice.best))
    return pd.DataFrame(rows)


def _escaped(cells: dict[str, str], *, bold: bool) -> dict[str, str]:
    """Return cells with their text escaped."""
    mark = "**" if bold else ""
    return {name: f"{mark}{plain(text)}{mark}" for name, text in cells.items()}


def _other_counts(advice: SpotAdvice, deadline_h: float | None) -> None:
    """Draw what fewer and more machines of the type would change."""
    rows = []
    for more in advice.other_counts:
        least, most = ("≥ ", "≤ ") if more.bound else ("", "")
        cells = {
            "Machines": f"{more.machines:,}",
            "Cost, 90 %": f"{least}{usd(more.cost_usd)}{_bounds(number, more.cost_90_usd)}",
            "Time, 90 %": f"{least}{hours(more.hours)}{NBSP}h{_bounds(hours, more.hours_90)}",
        }
        if deadline_h is not None:
            cells[f"Within {hours(deadline_h)}{NBSP}h"] = (
                f"{most}{percent(more.deadline_probability)}"
            )
        rows.append(_escaped(cells, bold=advice.machines.startswith(f"{more.machines} ×")))
    if len(rows) > 1:
        st.markdown("**Other numbers of machines** :small[:gray[restart all, as in the table "
                    "of plans; those the batch divides over]]")  # fmt: skip
        st.table(pd.DataFrame(rows), border="horizontal", hide_index=True)


def _bounds(form: Callable[[float], str], bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f" ({interval(*map(form, bounds))})"
