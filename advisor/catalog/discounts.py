"""The user's negotiated discounts on list prices; the list price stays visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def discounted(offers: pd.DataFrame, discounts: pd.DataFrame) -> pd.DataFrame:
    """Return the offers at what the user pays.

    Parameters
    ----------
    offers : DataFrame
        Columns cloud, market and usd_per_h, the list price [USD/h].
    discounts : DataFrame
        Columns cloud, market and discount_percent; may be empty.

    Returns
    -------
    DataFrame
        ``usd_per_h`` is what is paid; ``list_usd_per_h`` and ``discount_percent`` (0 for none)
        are added.
    """
    offers = offers.assign(list_usd_per_h=offers["usd_per_h"], discount_percent=0.0)
    for row in discounts.to_dict("records"):
        hit = (offers["cloud"] == row["cloud"]) & (offers["market"] == row["market"])
        offers.loc[hit, "discount_percent"] = row["discount_percent"]
    offers["usd_per_h"] *= 1 - offers["discount_percent"] / 100
    return offers
