"""States that are not an answer: nothing asked yet, not understood, nothing feasible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from advisor.advice.infeasible import NAMES, change, conflict
from advisor.core.units import NBSP, hours, usd
from advisor.search.constraints import Constraints
from advisor.search.relax import Relaxation, relaxations
from advisor.ui.state import AREAS, DEFAULT_CLOUDS, MARKETS, OTHER_CLOUDS, SAMPLES
from advisor.ui.text import plain
from advisor.ui.theme import FAMILIES

if TYPE_CHECKING:
    from advisor.advice import Engine
    from advisor.core.errors import AdvisorError
    from advisor.search.search import Evaluated

ICONS: Final = {
    "deadline_h": "schedule", "budget_usd": "payments", "clouds": "cloud", "areas": "public",
    "regions": "public", "families": "memory", "accelerators": "memory", "markets": "sell",
    "most_machines": "dns", "countries": "public",
    "confidential": "lock",
    "least_memory_gb": "memory_alt", "quotas": "data_check", "most_usd_per_h": "payments",
    "spot_usd_per_accelerator_h": "sell", "most_carbon_kg": "eco",
}  # fmt: skip
WIDGETS: Final = {
    "deadline_h": "deadline", "budget_usd": "budget", "clouds": "clouds", "areas": "areas",
    "families": "families", "markets": "markets", "most_machines": "machines",
    "countries": "residency", "confidential": "confidential", "least_memory_gb": "memory",
    "quotas": "quota", "spot_usd_per_accelerator_h": "ceiling", "most_usd_per_h": "rate",
    "most_carbon_kg": "carbon",
}  # fmt: skip
# Widgets of what is left out, where that is not nothing.
EMPTY: Final[dict[str, Any]] = {"countries": [], "confidential": False, "quotas": ""}
EVERYTHING: Final[dict[str, tuple[str, ...]]] = {
    "clouds": (*DEFAULT_CLOUDS, OTHER_CLOUDS), "areas": AREAS, "families": tuple(FAMILIES),
    "markets": MARKETS,
}  # fmt: skip


def nothing_asked(engine: Engine) -> None:
    """Ask for a job; offer samples."""
    with st.container(width=760, horizontal_alignment="left", gap="small"):
        st.markdown("# What do you want to train?")
        st.markdown(":gray[One line is enough. You get machines, cost and time, each with its "
                    "interval.]")  # fmt: skip
        with st.container(border=True, gap="xsmall"):
            st.markdown("#### :primary[:material/library_books:] From a sample")
            for title, line in SAMPLES.items():
                st.button(title, key=f"sample_{title}", icon=":material/arrow_forward:",
                          type="tertiary", on_click=use_job, args=(line,))  # fmt: skip
        catalog = engine.catalog
        st.markdown(
            f":small[:gray[{len(catalog.machines):,} machine types · {len(catalog.offers):,} "
            f"prices, newest of {catalog.as_of} · {engine.runs:,} measured runs]]"
        )


def use_job(line: str) -> None:
    """Put a job into the job line (a callback)."""
    st.session_state["job"] = line


def not_understood(error: AdvisorError) -> None:
    """Say what is wrong, where, and what to do."""
    with st.container(border=True, gap="xsmall", key="problem"):
        where = f"{error.where}: " if error.where else ""
        st.markdown(f"#### :red[:material/error:] {plain(where + error.what)}", anchors=False)
        if error.todo:
            st.markdown(f":gray[**What to do:** {plain(error.todo)}]")


def nothing_feasible(evaluated: Evaluated, limits: Constraints) -> None:
    """Offer the smallest changes that make a plan feasible."""
    ways = relaxations(evaluated.plans, limits)
    with st.container(border=True, gap="small", key="infeasible"):
        st.markdown("#### :orange[:material/block:] No plan meets all constraints", anchors=False)
        said = conflict(evaluated, limits).removeprefix(": ")
        if said:
            st.markdown(f"{plain(said[0].upper() + said[1:])}.")
        if not ways:
            st.markdown(f":gray[{_why_nothing(evaluated)}]")
            return
        one = any(len(way.names) == 1 for way in ways)
        st.markdown(
            f":gray[{'Relax one:' if one else 'No single change is enough. Relax together:'}]"
        )
        with st.grid(min(4, len(ways)), min_column_width=160, gap="xsmall"):
            for index, way in enumerate(ways):
                _way(evaluated, limits, way, primary=index == 0)


def _way(evaluated: Evaluated, limits: Constraints, way: Relaxation, *, primary: bool) -> None:
    plan = evaluated.plans.iloc[way.plan]
    title = NAMES[way.names[0]].capitalize() if len(way.names) == 1 else _together(way)
    before = ", ".join(change(limits, name) for name in way.names)
    after = ", ".join(change(way.limits, name) for name in way.names)
    with st.container(border=True, height="stretch", gap="xsmall"):
        st.markdown(f"#### :primary[:material/{ICONS[way.names[0]]}:] {title}", anchors=False)
        st.markdown(f":gray[{plain(before)} →]  \n**{plain(after)}**")
        cost = usd(plan["cost_usd"]).replace("$", r"\$")
        st.markdown(
            f"{plan['machines']} × {plan['instance_type']}  \n"
            f":small[:gray[{hours(plan['hours'])}{NBSP}h, {cost} · {way.plans:,} plans]]"
        )
        with st.container(height="stretch", vertical_alignment="bottom"):
            st.button("Use this", key=f"relax_{'_'.join(way.names)}", width="stretch",
                      type="primary" if primary else "secondary", on_click=_relax,
                      args=(way,))  # fmt: skip


def _together(way: Relaxation) -> str:
    return "Both, a little" if len(way.names) == 2 else "All together"


def _relax(way: Relaxation) -> None:
    """Set the widgets to the relaxed limits (a callback)."""
    for name in way.names:
        if name in WIDGETS:
            st.session_state[WIDGETS[name]] = _widget_value(way.limits, name)


def _widget_value(limits: Constraints, name: str) -> Any:
    value = getattr(limits, name)
    if name in EMPTY:
        return value or EMPTY[name]
    if name in EVERYTHING:
        return [choice for choice in EVERYTHING[name] if value is None or choice in value]
    return value


def _why_nothing(evaluated: Evaluated) -> str:
    if evaluated.considered == 0:
        return "The global batch does not divide over any number of accelerators: change it."
    if not len(evaluated.plans):
        return (
            f"None of {evaluated.considered:,} layouts fits into memory. Try LoRA or QLoRA, a "
            "shorter sequence, or a smaller model."
        )
    return "Several constraints conflict at once: open clouds, regions, accelerators and markets."
