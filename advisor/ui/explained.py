"""What a plan's step rests on: the measured runs nearest to it, and the user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from advisor.advice.explain import (
    SCALE_WORDS,
    differences_words,
    distance_sentence,
    explanation_of,
    factors_sentence,
)
from advisor.advice.exports import safe_cell
from advisor.core.units import round_significant
from advisor.ui.state import measured
from advisor.ui.text import plain

if TYPE_CHECKING:
    from advisor.advice import Engine
    from advisor.domain import Explanation
    from advisor.search.search import Evaluated


def show_explanation(evaluated: Evaluated, row: int, engine: Engine) -> None:
    """Draw the runs behind the step of one plan."""
    entry = int(evaluated.plans.iloc[row]["entry"])
    explained = explanation_of(evaluated.best, entry, evaluated.workload, engine, measured())
    if explained.own_runs:
        _own_runs(explained)
    _nearest(explained)


def _own_runs(explained: Explanation) -> None:
    st.markdown("#### Your runs behind this step", anchors=False)
    st.markdown(f":gray[{plain(factors_sentence(explained))}]")
    rows = [
        {
            "Run": safe_cell(plain(str(share.run))),
            "Shares with this plan": share.likeness,
            "Measured, s": round_significant(share.run.measured_s),
            "Predicted without your runs, s": round_significant(share.run.predicted_s),
            "Moves the step by": f"× {share.factor:.3f}",
        }
        for share in explained.own_runs
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt="Your runs behind this step")


def _nearest(explained: Explanation) -> None:
    st.markdown("#### Nearest measured runs :small[:gray[closest first; the predictor has learnt "
                "from them]]", anchors=False)  # fmt: skip
    st.markdown(f":gray[{plain(distance_sentence(explained))}]")
    rows = [
        {
            "Model": run.model,
            "Accelerators": f"{run.accelerators:g} × {run.accelerator}",
            "Not as here": differences_words(run),
            "Distance": round(run.distance, 1),
            "Measured, s": round_significant(run.measured_s),
            "Predicted, s": round_significant(run.predicted_s),
            "Error, %": round(100 * (run.predicted_s / run.measured_s - 1), 1),
            "Samples/s": round_significant(run.samples_per_s),
            "Batch": run.global_batch,
            "Sequence or side": run.sample_size,
            "Precision": run.precision or "not stated",
            "Layout": run.parallelism,
            "Source": run.url,
        }
        for run in explained.nearest
    ]
    whole = st.column_config.NumberColumn(format="localized")
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, alt="Measured runs nearest to this plan",
        column_config={
            "Batch": whole, "Sequence or side": whole, "Samples/s": whole,
            "Source": st.column_config.LinkColumn(display_text=r"github\.com/([^/]+/[^/]+)"),
            "Distance": st.column_config.NumberColumn(help=SCALE_WORDS),
        },
    )  # fmt: skip
