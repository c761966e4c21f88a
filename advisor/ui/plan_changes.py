"""What changed since a plan was saved: a sentence and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd
import streamlit as st

from advisor.advice.kept_runs import KeptRuns, kept_runs
from advisor.advice.saved import Since, since
from advisor.core.errors import AdvisorError
from advisor.core.units import NBSP, NOT_AVAILABLE, hours, interval, number, usd
from advisor.store import Store
from advisor.ui import notices
from advisor.ui.state import engine, inputs_of
from advisor.ui.text import plain
from advisor.ui.theme import MARKET_TITLES

if TYPE_CHECKING:
    import datetime as dt

    from advisor.domain import Estimate, Offer, Profile
    from advisor.search.search import SearchOptions
    from advisor.store import SavedPlan

SAME_PERCENT: Final = 0.05


def show_changes(saved: SavedPlan) -> None:
    """Draw what changed; made once per plan, catalog and predictor."""
    try:
        found = _changes(saved)
    except AdvisorError as error:
        notices.not_understood(error)
        return
    st.markdown(headline(saved, found))
    st.table(changes_table(saved, found), border="horizontal", hide_index=True,
             alt="The plan when it was saved, and today")  # fmt: skip
    st.markdown(origins(saved, found))


def _changes(saved: SavedPlan) -> Since:
    inputs = inputs_of({**saved.inputs})
    kept = KeptRuns()
    if inputs.runs:
        with Store.open() as store:
            kept = kept_runs(store, inputs.runs)
    loaded = engine()
    key = (saved.id, loaded.catalog.hash, loaded.predictor.data_hash,
           *(run.content_hash for run in kept.profiles))  # fmt: skip
    return _since(key, saved, kept.profiles, inputs.options)


@st.cache_resource(max_entries=64, show_spinner="Predicting anew with today's prices and runs …")
def _since(
    key: tuple[str, ...],  # noqa: ARG001 - what the rest depends on
    _saved: SavedPlan,
    _runs: tuple[Profile, ...],
    _options: SearchOptions,
) -> Since:
    return since(_saved, engine(), _options, _runs)


def headline(saved: SavedPlan, found: Since) -> str:
    """Return the change that matters most, as a sentence of markdown."""
    if found.offer is None:
        words = (
            f":orange[:material/info:] **{plain(saved.machines)}**, {plain(saved.region)}, "
            f"{MARKET_TITLES[saved.market].lower()} is no longer offered."
        )
        if found.instead is None:
            return words
        other = found.instead
        place = f"{other.offer.region}, {MARKET_TITLES[other.offer.market].lower()}"
        return f"{words} The same machines in {plain(place)}: {plain(words_of(other.cost_usd))}."
    if found.plan is None:
        return f":orange[:material/info:] Not predicted anew: {plain(found.unknown)}."
    before, now = saved.cost_usd.value, found.plan.cost_usd.value
    if usd(before) == usd(now):
        return "The predicted cost is the same."
    word = "less" if now < before else "more"
    return f"**{plain(usd(abs(now - before)))} {word}** than when it was saved."


def origins(saved: SavedPlan, found: Since) -> str:
    """Return badges that say which of the sources of a prediction changed."""
    version = f"Advisor {plain(saved.advisor_version)}"
    if saved.advisor_version != found.advisor_version:
        version += f" → {plain(found.advisor_version)}"
    sources = [
        ("Prices and machines", saved.catalog_hash != found.catalog_hash),
        ("Measured runs", saved.data_hash != found.data_hash),
    ]
    badges = [
        f":orange-badge[:material/update: {name}: changed]" if changed
        else f":gray-badge[:material/check: {name}: the same]"
        for name, changed in sources
    ]  # fmt: skip
    return " ".join([*badges, f":gray-badge[{version}]"])


def changes_table(saved: SavedPlan, found: Since) -> pd.DataFrame:
    """Return one line per quantity: when saved, today, change; cells are markdown."""
    offer, plan = found.offer, found.plan
    rows = [
        ("Price of a machine", *_prices(saved, offer)),
        ("Cost, 90 %", *_estimates(saved.cost_usd, None if plan is None else plan.cost_usd)),
        ("Time, 90 %", *_estimates(saved.hours, None if plan is None else plan.hours)),
    ]
    cells = [[plain(cell) for cell in row] for row in rows]
    return pd.DataFrame(cells, columns=[" ", "When saved", "Today", "Change"])


def words_of(estimate: Estimate) -> str:
    """Return an amount of money, hours or seconds with its unit and interval."""
    value, bounds = estimate.value, (estimate.low, estimate.high)
    if estimate.unit == "h":
        return f"{hours(value)}{NBSP}h ({interval(*(hours(b, like=value) for b in bounds))})"
    amount = usd(value) if estimate.unit == "USD" else f"{number(value)}{NBSP}{estimate.unit}"
    return f"{amount} ({interval(*map(number, bounds))})"


def _prices(saved: SavedPlan, offer: Offer | None) -> tuple[str, str, str]:
    then = _price(saved.usd_per_h, saved.price_as_of)
    if offer is None:
        return then, "no longer offered", ""
    today = _price(offer.usd_per_h, offer.as_of)
    return then, today, _change(saved.usd_per_h, offer.usd_per_h)


def _estimates(then: Estimate, now: Estimate | None) -> tuple[str, str, str]:
    if now is None:
        return words_of(then), NOT_AVAILABLE, ""
    return words_of(then), words_of(now), _change(then.value, now.value)


def _change(then: float, now: float) -> str:
    share = 100 * (now / then - 1) if then else 0.0
    return "same" if abs(share) < SAME_PERCENT else f"{share:+.1f}{NBSP}%"


def _price(usd_per_h: float, as_of: dt.date | None) -> str:
    return f"{usd(usd_per_h)}/h, {as_of or 'not dated'}"
