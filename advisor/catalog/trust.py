"""How far a price can be trusted: flags on every offer, and whether it may be recommended."""

from __future__ import annotations

import datetime as dt
from typing import Final, get_args

import numpy as np
import pandas as pd

from advisor.domain.hardware import COMMITTED, OWN_CLOUD, TrustFlag

FLAGS: Final[tuple[TrustFlag, ...]] = get_args(TrustFlag)
OLD_AFTER_DAYS: Final = 120
PLAUSIBLE_FACTOR: Final = 6.0  # times or one part of the median of the accelerator and market
PLAUSIBLE_SPOT_RATIO: Final = 0.15  # of on-demand; deeper discounts were errors of price lists
KEY: Final = ["cloud", "instance_type", "region", "market"]


def without_duplicates(offers: pd.DataFrame) -> pd.DataFrame:
    """Keep the dearest row of each key; `duplicate` says that rows of one key disagreed."""
    ordered = offers.sort_values("usd_per_h", ascending=False, kind="stable")
    repeated = ordered.duplicated(KEY, keep="first")
    kept = ordered[~repeated]
    if not repeated.any():
        return offers.assign(duplicate=False)
    lowest = ordered.groupby(KEY, observed=True, sort=False)["usd_per_h"].transform("min")
    disagree = (lowest < ordered["usd_per_h"])[~repeated]
    return kept.assign(duplicate=disagree).sort_index()


def with_flags(offers: pd.DataFrame, today: dt.date) -> pd.DataFrame:
    """Add one bool column per trust flag, the text column `flags`, and `rankable`.

    Parameters
    ----------
    offers : pandas.DataFrame
        Columns cloud, instance_type, region, market, usd_per_h, derived, as_of, accelerator and
        accelerators.
    today : datetime.date
        The day that ages are counted to.

    Notes
    -----
    Rankable is what may be recommended. An implausible price is not: it wins every comparison and
    cannot be paid. Neither is a reserved price of a shape that cannot be had on demand there: it is
    no price for one job. Spot without on-demand can be had, so it is rankable, and so are old,
    derived and duplicate prices; their flags are shown.
    """
    frame = without_duplicates(offers)
    market = frame["market"].to_numpy().astype(str)
    spot = market == "spot"
    price = frame["usd_per_h"].to_numpy()
    on_demand = _on_demand(frame)
    age_days = (pd.Timestamp(today) - frame["as_of"]).dt.days.to_numpy()
    ratio = _typical_ratio(frame)
    with np.errstate(invalid="ignore"):
        far = (ratio > PLAUSIBLE_FACTOR) | (ratio < 1 / PLAUSIBLE_FACTOR)
        far |= spot & (price / on_demand < PLAUSIBLE_SPOT_RATIO)
        # The user knows what they pay.
        far &= (frame["cloud"] != OWN_CLOUD).to_numpy() & ~np.isin(market, COMMITTED)
        flags = {
            "stale": ~(age_days <= OLD_AFTER_DAYS),
            "derived_spot": spot & frame["derived"].to_numpy(),
            "spot_not_below_on_demand": spot & (price >= on_demand),
            "implausible": far,
            "reservation_only": np.isnan(on_demand),
        }
    frame = frame.assign(**flags)
    frame["flags"] = _text(frame)
    reserved = ~spot & ~np.isin(market, ("on_demand", *COMMITTED))
    frame["rankable"] = ~(frame["implausible"] | (frame["reservation_only"] & reserved))
    return frame


def _typical_ratio(frame: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Price of one device over what that accelerator costs in that market.

    Typical is the median over the clouds of each cloud's median: a cloud with many regions counts
    once, or a dear one would make the price of every cheap one look wrong.
    """
    kind = ["accelerator", "market"]
    device = frame[[*kind, "cloud"]].assign(usd=frame["usd_per_h"] / frame["accelerators"])
    listed = device[device["cloud"] != OWN_CLOUD]
    by_cloud = listed.groupby([*kind, "cloud"], observed=True)["usd"].median()
    typical = by_cloud.groupby(level=kind, observed=True).median().rename("typical")
    return (device["usd"] / device.join(typical, on=kind)["typical"]).to_numpy()


def _on_demand(frame: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """On-demand price of the same shape and region, NaN where there is none."""
    place = KEY[:3]
    base = frame.loc[frame["market"] == "on_demand", [*place, "usd_per_h"]]
    joined = frame[place].merge(base, on=place, how="left")
    return joined["usd_per_h"].to_numpy()


def _text(frame: pd.DataFrame) -> pd.Series:
    """Names of the flags that are set, joined by commas."""
    code = np.zeros(len(frame), dtype=np.int64)
    for bit, flag in enumerate(FLAGS):
        code |= frame[flag].to_numpy().astype(np.int64) << bit
    present, position = np.unique(code, return_inverse=True)
    names = [
        ",".join(flag for bit, flag in enumerate(FLAGS) if value >> bit & 1) for value in present
    ]
    texts = np.array(names, dtype=object)[position]
    return pd.Series(texts, index=frame.index).astype("category")
