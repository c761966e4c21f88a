"""Refits of the predictor on the user's own runs: begun, running, and what came of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from advisor.advice import refit_worker
from advisor.advice.refit import score_words
from advisor.advice.refits import read_refits
from advisor.core.paths import data_dir
from advisor.predictor.predictor import basis_of
from advisor.ui.state import engine
from advisor.ui.text import plain

if TYPE_CHECKING:
    from advisor.advice.refits import Verdict
    from advisor.store import Store

RUNNING = ("The predictor learns the newest changes of the store, in the background. Answers come "
           "from the one before until it has ended and predicts no worse.")  # fmt: skip
WAITING = ("The predictor has not learnt the newest changes of the store. It does by itself after "
           f"{refit_worker.FEWEST_NEW} new runs, in the background.")  # fmt: skip


def show_learning(store: Store) -> None:
    """Say whether the predictor knows the store's runs; begin a refit where one is due."""
    loaded, refits = engine(), read_refits(data_dir())
    wanted, current = basis_of(store, loaded.catalog), loaded.predictor.basis
    if wanted == current:
        return
    if refit_worker.begins_by_itself() and refit_worker.is_due(wanted, current, refits):
        refit_worker.start()
    judged = refits.judged(wanted)
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small",
                      key="not_learnt"):  # fmt: skip
        if refit_worker.is_running(data_dir()):
            st.markdown(f":blue[:material/hourglass_top:] {RUNNING}", width="stretch")
        elif judged is not None and not judged.taken:
            st.markdown(f":gray[:material/school:] {_why_not(judged)}", width="stretch")
        else:
            st.markdown(f":blue[:material/school:] {WAITING}", width="stretch")
            if st.button("Learn now", key="learn_now", icon=":material/model_training:"):
                refit_worker.start()
                st.rerun()


def _why_not(verdict: Verdict) -> str:
    return (f"The predictor was refitted with the newest changes of the store, and the refit was "
            f"not taken: {plain(verdict.why)}. Your runs still calibrate answers that you give "
            "them to.")  # fmt: skip


def show_refits() -> None:
    """Draw what became of the last refits."""
    verdicts = read_refits(data_dir()).verdicts
    st.markdown("### Refits on your own runs", anchors=False)
    if not verdicts:
        st.markdown(
            f":gray[None yet. With {refit_worker.FEWEST_NEW} runs of your own in the store the "
            "predictor is fitted again in the background, and taken only if it predicts no worse "
            "on runs held out.]"
        )
        return
    rows = [
        {
            "When": f"{one.made_at:%Y-%m-%d %H:%M}",
            "Verdict": "✓ taken" if one.taken else "✗ not taken",
            "Own runs": one.own_runs,
            "New": one.new_runs,
            "Why": one.why,
            "Held out": "; ".join(score_words(score) for score in one.scores),
            "Left aside": "; ".join(f"{skipped.run}: {skipped.why}" for skipped in one.skipped),
            "Took, s": round(one.seconds),
        }
        for one in verdicts
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt="Refits on your own runs")
