"""Why this choice: the rival, what binds, what flips it and how sure it is, made when opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from advisor.advice.bill_draws import DRAWS
from advisor.advice.choice import choice_of
from advisor.advice.choice_words import (
    binding_sentences,
    option_words,
    robust_sentence,
    sureness_sentence,
)
from advisor.core.units import percent, usd
from advisor.ui.charts.break_even import break_even_data, draw_break_even
from advisor.ui.charts.cost_time import PICK_TITLES
from advisor.ui.charts.style import CONFIG
from advisor.ui.charts.tornado import draw_tornado, tornado_data
from advisor.ui.text import plain
from advisor.ui.theme import palette

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.domain import Choice
    from advisor.domain.choice import Flip
    from advisor.ui.answer import Answer


def show_choice(answer: Answer) -> None:
    """Draw why a pick won and what that hangs on, behind an expander."""
    opened = st.expander("Why this choice", icon=":material/balance:", key="why",
                         bind="query-params")  # fmt: skip
    if not opened.open:
        return
    picks = answer.result.picks
    with opened:
        pick = st.radio(
            "Pick", list(picks), key="why_pick", horizontal=True, label_visibility="collapsed",
            format_func=lambda name: PICK_TITLES[name],
        )  # fmt: skip
        choice = choice_of(
            answer.table, answer.result.rows, picks[pick], answer.limits, answer.engine, pick
        )
        _sentences(choice)
        left, right = st.columns(2, gap="medium")
        with left:
            _tornado(choice)
        with right:
            _break_even(choice)
        left, right = st.columns(2, gap="medium")
        with left:
            st.markdown("##### What would flip it", anchors=False)
            st.table(flips_table(choice.flips), border="horizontal", hide_index=True)
        with right:
            st.markdown("##### Against the others", anchors=False)
            _duels(choice)


def _sentences(choice: Choice) -> None:
    first, *rest = choice.why
    st.markdown(f"**{plain(option_words(choice.chosen))}** · {plain(first)}")
    said = [*rest, sureness_sentence(choice), robust_sentence(choice)]
    st.markdown(plain(" ".join(text for text in said if text)))
    st.markdown("  \n".join(f":material/lock: {plain(text)}" for text in binding_sentences(choice)))


def _tornado(choice: Choice) -> None:
    data = tornado_data(choice)
    st.markdown("##### What moves the bill most :small[:gray[each over its 80 % range, the others "
                "as predicted]]", anchors=False)  # fmt: skip
    st.plotly_chart(draw_tornado(data, palette()), theme=None, config=CONFIG, key="tornado",
                    alt=data.alt)  # fmt: skip


def _break_even(choice: Choice) -> None:
    if choice.rival is None:
        st.markdown("##### Break-even", anchors=False)
        st.markdown(":gray[There is no other plan within the limits to compare with.]")
        return
    st.markdown(
        f"##### Break-even :small[:gray[with {plain(option_words(choice.rival))}; band: 80 % "
        "range]]", anchors=False,
    )  # fmt: skip
    of = {one.assumption: one for one in choice.break_evens}
    chosen = st.radio("Quantity", list(of), key="why_quantity", horizontal=True,
                      label_visibility="collapsed", format_func=str.capitalize)  # fmt: skip
    data = break_even_data(choice, of[chosen])
    st.plotly_chart(draw_break_even(data, palette()), theme=None, config=CONFIG, key="break_even",
                    alt=data.alt)  # fmt: skip
    if data.crossing_pct is None:
        st.markdown(
            ":small[:gray[Within four times as much and a quarter the bills do not cross.]]"
        )


def _duels(choice: Choice) -> None:
    if not choice.duels:
        st.markdown(":gray[There are none.]")
        return
    st.table(duels_table(choice), border="horizontal", hide_index=True)
    st.markdown(
        f":small[:gray[From {DRAWS:,} draws in which errors that two predictions share cancel. "
        "*Loss*: what taking that plan is expected to cost above whichever turns out cheapest; the "
        f"chosen one {plain(usd(choice.regret_usd))}.]]"
    )


def flips_table(flips: Iterable[Flip]) -> pd.DataFrame:
    """Return the changes that make another plan the cheapest; cells are markdown."""
    rows = [
        (
            f"{plain(flip.change)} :gray[{plain(flip.now)}]",
            plain(flip.by),
            "no plan is left" if flip.then is None else plain(option_words(flip.then)),
        )
        for flip in flips
    ]
    return pd.DataFrame(rows, columns=["If", "That is", "Then cheapest is"])


def duels_table(choice: Choice) -> pd.DataFrame:
    """Return the likeliest to be cheaper, how often the chosen plan is; cells are markdown."""
    rows = [
        (
            plain(option_words(duel.other)),
            plain(usd(duel.other.cost_usd)),
            percent(duel.beats_probability),
            plain(usd(duel.regret_usd)),
        )
        for duel in choice.duels
    ]
    return pd.DataFrame(rows, columns=["Against", "Bill", "Costs less", "Loss"])
