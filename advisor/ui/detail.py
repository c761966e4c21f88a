"""One plan in detail: step, memory, bill, finish, what would flip the choice, prices."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from advisor.advice.advise import advice_of
from advisor.advice.calibrated import sentence
from advisor.advice.choice import flips_of
from advisor.advice.interruptions import sentences
from advisor.advice.plans import row_of_key
from advisor.advice.proposals import propose_row, today
from advisor.core.units import (
    GB,
    HOUR_S,
    NBSP,
    data_size,
    duration,
    hours,
    interval,
    number,
    percent,
    usd,
)
from advisor.predictor.hardware import run_precision
from advisor.ui import basket
from advisor.ui.cards import badges, terms_lines
from advisor.ui.charts.bars import BarData, bill_bar, draw_bar, memory_bar, part_marks, step_bar
from advisor.ui.charts.cost_time import pick_labels
from advisor.ui.charts.finish import draw_finish, finish_data
from advisor.ui.charts.style import CONFIG
from advisor.ui.choosing import flips_table
from advisor.ui.explained import show_explanation
from advisor.ui.exporting import export_button, report_button
from advisor.ui.plan_markets import show_markets
from advisor.ui.saving import save_button, show_saved_as
from advisor.ui.spot_panel import show_spot
from advisor.ui.state import address_values
from advisor.ui.text import plain
from advisor.ui.theme import MARKET_TITLES, palette

if TYPE_CHECKING:
    from advisor.advice import Engine, Result
    from advisor.catalog import Catalog
    from advisor.domain import Estimate, Plan, Proposal
    from advisor.search.constraints import Constraints
    from advisor.search.search import Evaluated


def show_plan(
    key: str, evaluated: Evaluated, result: Result, limits: Constraints, engine: Engine
) -> None:
    """Draw the plan that `key` names; say so where these inputs have no such plan."""
    row = row_of_key(evaluated.plans, key)
    if row is None:
        st.button("All plans", icon=":material/arrow_back:", type="tertiary", on_click=close_plan)
        with st.container(border=True, key="problem"):
            st.markdown("#### :red[:material/error:] This plan is not among today's", anchors=False)
            st.markdown(":gray[Its machine left the catalog, or the job no longer fits on it. "
                        "Go back to all plans.]")  # fmt: skip
        return
    proposal = _proposal(evaluated, result, row, engine, limits)
    plan = proposal.plan
    _bar_of_actions(proposal, key, engine.catalog)
    show_saved_as(key)
    basket.show_basket()
    _title(plan, evaluated, result, row, engine)
    _figures(plan, evaluated, limits)
    left, right = st.columns([5, 3], gap="small")
    with left:
        _step(plan)
        _memory(plan)
        _bill(plan)
    with right, st.container(border=True, height="stretch", gap="xsmall"):
        _finish(plan, evaluated, row, limits)
    show_markets(evaluated, row, limits.deadline_h)
    show_spot(evaluated, row, limits, engine)
    left, right = st.columns(2, gap="small")
    with left, st.container(border=True, height="stretch", gap="xsmall"):
        _flips(evaluated, result, row, limits)
    with right, st.container(border=True, height="stretch", gap="xsmall"):
        _prices(plan, engine)
    with st.container(border=True, gap="xsmall"):
        show_explanation(evaluated, row, engine)


def close_plan() -> None:
    """Take the plan out of the address (a callback)."""
    st.query_params.pop("plan", None)


def _proposal(
    evaluated: Evaluated, result: Result, row: int, engine: Engine, limits: Constraints
) -> Proposal:
    """Return the plan with its job and the picks beside it, for what is handed on."""
    picks = advice_of(evaluated, replace(result, front=result.front[:0]), engine, limits)
    job = str(address_values().get("job", ""))
    return propose_row(picks, evaluated, result, row, engine, limits, job=job, made_on=today())


def _bar_of_actions(proposal: Proposal, key: str, catalog: Catalog) -> None:
    plan = proposal.plan
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.button("All plans", icon=":material/arrow_back:", type="tertiary", on_click=close_plan)
        save_button(plan, proposal.workload, key)
        basket.toggle_button(key, "detail")
        with st.popover("Copy link", icon=":material/link:"):
            st.code(link(key), language=None, wrap_lines=True)
        st.download_button("Plan, JSON", proposal.to_json(), f"plan-{plan.id}.json",
                           "application/json", icon=":material/download:", type="primary",
                           on_click="ignore")  # fmt: skip
        report_button(proposal)
        export_button(proposal, catalog)


def link(key: str) -> str:
    """Return the address that reopens this plan with the same inputs."""
    base = (st.context.url or "").partition("?")[0]
    return f"{base}?{urlencode(address_values() | {'plan': key}, doseq=True)}"


def _title(plan: Plan, evaluated: Evaluated, result: Result, row: int, engine: Engine) -> None:
    group = plan.cluster.groups[0]
    facts, wanted = engine.catalog.accelerators, evaluated.workload.precision
    market = MARKET_TITLES[plan.offer.market].lower()
    st.markdown(f"# {plan.cluster}, {group.region}, {market}", anchors=False)
    st.markdown(
        f":gray[{plan.cluster.accelerators:g} × {group.accelerator} · {plan.layout} · "
        f"{run_precision(facts, group.accelerator, wanted)}]"
    )
    labels = pick_labels(result.picks)
    pick = f":blue-badge[{labels[row]}] " if row in labels else ""
    outside = "" if row in set(result.rows.tolist()) else ":red-badge[Outside the constraints] "
    flags = " ".join(
        f":orange-badge[{flag.replace('_', ' ')}]" for flag in plan.offer.flags if flag != "stale"
    )
    st.markdown(f"{pick}{outside}{badges(plan)} {flags}")
    if plan.calibrated is not None:
        said = sentence(plan.calibrated, plan.hours.value)
        st.markdown(f":blue[:material/tune:] {plain(said[:1].upper() + said[1:])}.")


def _figures(plan: Plan, evaluated: Evaluated, limits: Constraints) -> None:
    workload = evaluated.workload
    with st.grid(6, min_column_width=128, gap="small"):
        _metric("Cost", usd(plan.cost_usd.value), _usd_bounds(plan.cost_usd))
        _metric("Time", f"{hours(plan.hours.value)}{NBSP}h", _hour_bounds(plan.hours))
        if limits.deadline_h is not None:
            _metric(f"Done within {hours(limits.deadline_h)}{NBSP}h",
                    percent(plan.deadline_probability), None)  # fmt: skip
        _metric("Out of memory", percent(plan.memory.out_of_memory_probability), None)
        per, unit = (
            (1e9, "1 B tokens") if workload.model.tokens_per_sample > 1 else (1e6, "1 M samples")
        )
        amount = (workload.tokens if per == 1e9 else workload.samples) / per
        bounds = interval(number(plan.cost_usd.low / amount), number(plan.cost_usd.high / amount))
        _metric(f"Cost per {unit}", usd(plan.cost_usd.value / amount), bounds)
        ratio = plan.step_time_s.value
        mfu = interval(*(f"{100 * min(1, plan.mfu * ratio / b):.0f}"
                         for b in (plan.step_time_s.high, plan.step_time_s.low)))  # fmt: skip
        _metric("MFU", percent(plan.mfu), mfu)


def _metric(label: str, value: str, bounds: str | None) -> None:
    with st.container(border=True, height="stretch"):
        st.metric(label, value, bounds, delta_color="off", delta_arrow="off")


def _usd_bounds(estimate: Estimate) -> str:
    return interval(number(estimate.low), number(estimate.high))


def _hour_bounds(estimate: Estimate) -> str:
    return interval(*(hours(b, like=estimate.value) for b in (estimate.low, estimate.high)))


def _panel(title: str, whole: str, note: str, data: BarData) -> None:
    """Draw one bar with its total and the legend of its parts."""
    colours = palette()
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        st.markdown(f"#### {title}", anchors=False)
        st.markdown(rf"**{plain(whole)}** :small[:gray[{plain(note)}]]", width="content")
    alt = f"{title}: " + ", ".join(f"{part.name} {part.text}" for part in data.parts)
    st.plotly_chart(draw_bar(data, colours), theme=None, config=CONFIG, key=f"bar_{title}", alt=alt)
    with st.grid(len(data.parts), min_column_width=96, gap="xsmall"):
        for part, mark in zip(data.parts, part_marks(data, colours), strict=True):
            share = f" :small[:gray[{100 * part.share:.0f}{NBSP}%]]" if part.share >= 5e-3 else ""
            st.markdown(f":small[{mark} :gray[{part.name}]]  \n**{plain(part.text)}**{share}")


def _step(plan: Plan) -> None:
    step, parts = plan.step_time_s, plan.parts
    training = plan.steps * step.value / HOUR_S
    with st.container(border=True, gap="xsmall"):
        bounds = interval(number(step.low), number(step.high))
        _panel("One step", duration(step.value), f"{bounds} s", step_bar(parts))
        st.markdown(
            f":small[:gray[{plan.steps:,} steps × {duration(step.value)} = {hours(training)}{NBSP}h"
            f" of training. {correction_words(plan)}]]"
        )


def correction_words(plan: Plan) -> str:
    """Return by how much measured runs bend the physics, and the user's own runs beside them."""
    own = 1.0 if plan.calibrated is None else plan.calibrated.factor
    learned = plan.parts.correction / own
    said = f"Measured runs bend the physics by a factor of {number(learned)}"
    if plan.calibrated is not None:
        runs = plan.calibrated.runs
        by = "one of your runs" if runs == 1 else f"{runs:,} of your runs"
        said += f", {by} ({plan.calibrated.likeness}) by {number(own)} more"
    return f"{said}, contained in every part; the nearest of them stand below with their distance."


def _memory(plan: Plan) -> None:
    memory = plan.memory
    whole = f"{data_size(memory.used_bytes)} of {memory.capacity_bytes / GB:,.0f}{NBSP}GB"
    risk = f"out of memory {percent(memory.out_of_memory_probability)}"
    with st.container(border=True, gap="xsmall"):
        _panel("Memory per device", whole, risk, memory_bar(memory))


def _bill(plan: Plan) -> None:
    with st.container(border=True, gap="xsmall"):
        _panel("Bill", usd(plan.cost_usd.value), _usd_bounds(plan.cost_usd), bill_bar(plan.bill))
        terms_lines(plan)
        without = ", ".join(plan.bill.left_out)
        st.markdown(f":small[:gray[To the cent: {plan.bill.total_usd:,.2f}{NBSP}USD. "
                    f"Without {plain(without)}.]]")  # fmt: skip


def _finish(plan: Plan, evaluated: Evaluated, row: int, limits: Constraints) -> None:
    data = finish_data(evaluated.plans.iloc[row], limits.deadline_h)
    st.markdown("#### When it finishes", anchors=False)
    st.plotly_chart(draw_finish(data, palette()), theme=None, config=CONFIG, key="finish",
                    alt="Chance to be done against hours after the start")  # fmt: skip
    if plan.interruptions is not None:
        st.markdown(f":small[:gray[{plain(sentences(plan.interruptions))}]]")


def _flips(evaluated: Evaluated, result: Result, row: int, limits: Constraints) -> None:
    st.markdown("#### What would flip the choice", anchors=False)
    found = flips_of(evaluated, result.rows, row, limits)
    st.table(flips_table(found), border="horizontal", hide_index=True)


def billing_words(increment_s: float, minimum_s: float) -> str:
    r"""Return by what a machine is billed, and at least.

    >>> billing_words(1, 60), billing_words(3600, 3600)
    ('by 1.00\xa0s, 60.0\xa0s at least', 'by 1.0\xa0h')
    """
    least = "" if minimum_s <= increment_s else f", {duration(minimum_s)} at least"
    return f"by {duration(increment_s)}{least}"


def _prices(plan: Plan, engine: Engine) -> None:
    group, offer = plan.cluster.groups[0], plan.offer
    catalog = engine.catalog
    place = (group.cloud, group.region)
    start, slow, basis = catalog.startup_s(group.cloud, group.instance_type, group.accelerator)
    rows = [
        (f"{group.instance_type}, {group.region}", f"{usd(offer.usd_per_h)}/h", offer.source,
         offer.as_of),
        ("Start of a machine", f"{duration(start)}, one in ten over {duration(slow)}", basis, None),
    ]  # fmt: skip
    rule = catalog.billing_s(group.cloud, group.instance_type)
    billed = "not available" if rule is None else billing_words(*rule)
    rows.append(("Billed time", billed, *catalog.price_source("billing", group.cloud)))
    storage = catalog.storage_usd_per_gb_month(*place)
    price = "not available" if storage is None else f"{usd(storage)}/GB-month"
    rows.append(("Checkpoint storage", price, *catalog.price_source("storage", *place)))
    if offer.market == "spot":
        band = catalog.interruption_band(*place, group.instance_type)
        said = "not available" if band is None else f"{band[0]:.0%} to {band[1]:.0%} a month"
        source = catalog.price_source("interruption", *place, group.instance_type)
        rows.append(("Interrupted", said, *source))
    st.markdown("#### Prices used", anchors=False)
    cells = [(item, plain(price), plain(source), str(as_of or "not dated" if source else ""))
             for item, price, source, as_of in rows]  # fmt: skip
    table = pd.DataFrame(cells, columns=["Item", "Price", "Source", "As of"])
    st.table(table, border="horizontal", hide_index=True)
