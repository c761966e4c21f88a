"""Which assumption moves the bill most: each over its 80 % range, the others as they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.advice.what_if import Changed, bill_against, factor_for
from advisor.core.units import duration, interval, number, percent, usd
from advisor.domain.choice import BreakEven, Swing
from advisor.predictor.arrays import FloatArray, Floats
from advisor.search.startup import P90
from advisor.transient import known_lifetime

if TYPE_CHECKING:
    import pandas as pd

    from advisor.advice.engine import Engine
    from advisor.domain.choice import Assumption
    from advisor.search.search import Evaluated

FEWEST_REGIONS: Final = 5
POINTS: Final = 49
# A crossing further off than this is not drawn: the plan would be another one.
FAR: Final = 4.0


@dataclass(frozen=True, slots=True)
class Range:
    """An assumption of a plan: how it changes the bill, its 80 % range, and its ends in words."""

    assumption: Assumption
    change: Callable[[Floats], Changed]
    low: float
    high: float
    words: tuple[str, str]


def ranges(evaluated: Evaluated, row: int, engine: Engine) -> list[Range]:
    """Return the assumptions of a plan that are uncertain, with their ranges.

    The step has the predictor's interval, the start that of the measured ones, interruptions the
    spread of the rate they rest on. A spot price is as uncertain as it differs between the regions
    of its machine, where there are `FEWEST_REGIONS` at least; a list price is certain.
    """
    plan = evaluated.plans.iloc[row]
    step_s = float(evaluated.best.prediction.step_s[int(plan["entry"])])
    found = [
        _log_normal("step time", lambda by: Changed(step=by), float(plan["log_sigma"]),
                    lambda by: duration(step_s * by)),
        _log_normal("start-up", lambda by: Changed(startup=by), float(plan["startup_log_sigma"]),
                    lambda by: duration(float(plan["startup_h"]) * 3600 * by)),
    ]  # fmt: skip
    if plan["market"] == "spot":
        price = float(plan["usd_per_h"])
        found += [
            _log_normal("price", lambda by: Changed(price=by), price_log_sigma(plan, engine),
                        lambda by: f"{usd(price * by)}/h"),
            _log_normal("interruption rate", lambda by: Changed(interruptions=by),
                        rate_log_sigma(plan, engine),
                        lambda by: f"{number(float(plan['revocations']) * by, 2)} expected"),
        ]  # fmt: skip
    return [one for one in found if one is not None]


def swings(
    evaluated: Evaluated, row: int, engine: Engine, rival_usd: float | None
) -> tuple[Swing, ...]:
    """Return what each uncertain assumption moves the bill by, widest first.

    Parameters
    ----------
    rival_usd : float or None
        Bill of the plan to beat [USD], None where there is none.
    """
    found = [
        _swing(one.assumption, one.words, bill_against(evaluated, row, one.change,
               np.array([one.low, one.high])), rival_usd)
        for one in ranges(evaluated, row, engine)
    ]  # fmt: skip
    found.append(_memory(evaluated, row, rival_usd))
    return tuple(sorted(found, key=lambda swing: -swing.width_usd))


def break_evens(
    evaluated: Evaluated, row: int, engine: Engine, rival_usd: float
) -> tuple[BreakEven, ...]:
    """Return the bill against each uncertain quantity of the plan alone, with the crossing."""
    found = []
    for one in ranges(evaluated, row, engine):
        crossing = factor_for(evaluated, row, one.change, rival_usd)
        near = None if crossing is None or not 1 / FAR <= crossing <= FAR else crossing
        ends = [1.0, one.low, one.high, *([near] if near else [])]
        factors = np.geomspace(min(ends) / 1.1, max(ends) * 1.1, POINTS)
        found.append(
            BreakEven(
                assumption=one.assumption,
                factor=tuple(factors.tolist()),
                chosen_usd=tuple(bill_against(evaluated, row, one.change, factors).tolist()),
                rival_usd=rival_usd,
                low=one.low,
                high=one.high,
                crossing=near,
            )
        )
    return tuple(found)


def price_log_sigma(plan: pd.Series, engine: Engine) -> float:
    """Return the spread of the logarithm of a machine's spot price over its regions; NaN if few."""
    offers = engine.catalog.offers
    same = (offers["cloud"] == plan["cloud"]) & (offers["instance_type"] == plan["instance_type"])
    prices = offers["usd_per_h"][same & (offers["market"] == "spot") & offers["rankable"]]
    return float(np.log(prices).std()) if len(prices) >= FEWEST_REGIONS else math.nan


def rate_log_sigma(plan: pd.Series, engine: Engine) -> float:
    """Return the spread of the logarithm of the rate of interruptions; NaN if nothing is known."""
    place = (str(plan["cloud"]), str(plan["region"]))
    band = engine.catalog.interruption_band(*place, str(plan["instance_type"]))
    known = known_lifetime(str(plan["accelerator"]), *place, "spot", band)
    return math.nan if known is None else known.log_sigma


def _log_normal(
    assumption: Assumption,
    change: Callable[[Floats], Changed],
    log_sigma: float,
    words: Callable[[float], str],
) -> Range | None:
    if not log_sigma > 0:
        return None
    # One in ten is below the lower end of an 80 % range, one in ten above the upper.
    low, high = math.exp(-P90 * log_sigma), math.exp(P90 * log_sigma)
    return Range(assumption, change, low, high, (words(low), words(high)))


def _memory(evaluated: Evaluated, row: int, rival_usd: float | None) -> Swing:
    """Return the swing of the first attempt: it fits, or runs out of memory, if that is likely."""
    chance = float(evaluated.plans["out_of_memory"].iloc[row])
    ends = [float(chance > 0.9), float(chance > 0.1)]  # the 10th and 90th percentile of yes or no
    costs = bill_against(evaluated, row, lambda failed: Changed(failed=failed), np.array(ends))
    words = tuple("first attempt fails" if end else "fits" for end in ends)
    return _swing("out of memory", (words[0], f"{words[1]} ({percent(chance)})"), costs, rival_usd)


def _swing(
    assumption: Assumption, words: tuple[str, str], costs: FloatArray, rival_usd: float | None
) -> Swing:
    low_usd, high_usd = (float(cost) for cost in costs)
    return Swing(
        assumption=assumption,
        low=words[0],
        high=words[1],
        low_usd=low_usd,
        high_usd=high_usd,
        overtaken=rival_usd is not None and (low_usd > rival_usd) != (high_usd > rival_usd),
    )


def range_words(swing: Swing) -> str:
    r"""Return the range of an assumption in words.

    >>> range_words(Swing(assumption="price", low="$5/h", high="$9/h", low_usd=1, high_usd=2,
    ...                   overtaken=False))
    '$5/h–$9/h'
    """
    if swing.low == swing.high.partition(" (")[0]:
        return swing.high
    return interval(swing.low, swing.high)
