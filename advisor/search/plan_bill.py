"""What the bills of a table of plans are made of: their prices and rules, and what they use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.core.units import HOUR_S
from advisor.search.bill import BillTerms, BillUse, checkpoint_bytes, result_bytes
from advisor.search.data_set import transfer_prices
from advisor.search.offers import offer_columns

if TYPE_CHECKING:
    import pandas as pd

    from advisor.catalog import Catalog
    from advisor.domain import Workload
    from advisor.predictor.arrays import FloatArray
    from advisor.search.data_set import DataSet

# Columns of the offers that go into the bill and not into the table.
OFFER_TERMS: Final = ("increment_s", "minimum_s", "storage_usd_per_gb_month", "write_usd")
TRANSFER: Final = ("in_usd_per_gb", "out_usd_per_gb")


def terms_of(catalog: Catalog, data: DataSet | None, plans: pd.DataFrame) -> BillTerms:
    """Return prices and rules of the plans of a table."""
    offer = plans["offer"].to_numpy()
    columns = offer_columns(catalog)[[*OFFER_TERMS]].iloc[offer].to_numpy(float).T
    known = dict(zip(OFFER_TERMS, columns, strict=True))
    if data is not None and data.storage_usd_per_gb_month is not None:
        known["storage_usd_per_gb_month"] = np.full(len(plans), data.storage_usd_per_gb_month)
    transfer = transfer_prices(catalog, data).iloc[offer].to_numpy(float).T
    return BillTerms(
        usd_per_h=plans["usd_per_h"].to_numpy(float),
        **known,
        **dict(zip(TRANSFER, transfer, strict=True)),
    )


def use_of(
    workload: Workload,
    data: DataSet | None,
    plans: pd.DataFrame,
    *,
    retry_share: float,
    step_s: FloatArray,
) -> BillUse:
    """Return what the plans of a table use.

    Parameters
    ----------
    workload : Workload
        The job.
    data : DataSet or None
        Its data, if stated.
    plans : DataFrame
        Columns of `advisor.search.search.Evaluated.plans` up to its hours.
    retry_share : float
        Allowance contained in their training hours.
    step_s : array
        Step of each entry [s].
    """
    training_h, startup_h = plans["training_h"].to_numpy(), plans["startup_h"].to_numpy()
    # Where there are no interruptions to fear, one is written, at the end.
    written = np.maximum(1.0, np.nan_to_num(training_h / plans["interval_h"].to_numpy(float)))
    return BillUse(
        machines=plans["machines"].to_numpy(float),
        training_h=training_h / (1 + retry_share),
        startup_h=startup_h,
        interruption_h=plans["interruption_h"].to_numpy(),
        retry_share=retry_share,
        revocations=np.nan_to_num(plans["revocations"].to_numpy(float)),
        out_of_memory=plans["out_of_memory"].to_numpy(),
        attempt_h=startup_h + step_s[plans["entry"].to_numpy()] / HOUR_S,
        checkpoint_bytes=checkpoint_bytes(workload),
        checkpoints=written,
        objects=np.maximum(1.0, plans["accelerators_total"].to_numpy()),
        data_bytes=0.0 if data is None else data.data_bytes,
        result_bytes=0.0 if data is None or not data.place else result_bytes(workload),
    )
