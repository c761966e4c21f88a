"""Why a plan won: against what, by how much, which limit binds, and what that hangs on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.advice.bill_draws import bill_draws
from advisor.advice.contenders import contender_rows
from advisor.advice.flips import flips
from advisor.advice.picks import pick_rows
from advisor.advice.plans import cluster_of
from advisor.advice.tornado import break_evens, swings
from advisor.core.units import NBSP, hours, number, percent, usd
from advisor.domain.choice import Binding, Choice, Duel, Flip, Option
from advisor.search.constraints import apply
from advisor.search.interruptions import surest_known

if TYPE_CHECKING:
    import pandas as pd

    from advisor.advice.engine import Engine
    from advisor.search.constraints import Constraints
    from advisor.search.search import Evaluated

DUELS: Final = 5
# A limit that costs less than this share of the bill is not worth a word.
WORTH_SAYING: Final = 0.005


def choice_of(
    evaluated: Evaluated,
    rows: np.ndarray,
    row: int,
    limits: Constraints,
    engine: Engine,
    pick: str = "cheapest",
) -> Choice:
    """Return why the plan at `row` was chosen, and what would change that.

    Parameters
    ----------
    evaluated : Evaluated
        The answer's table.
    rows : array of int
        Its rows within the limits.
    row : int
        The chosen one, among them.
    limits : Constraints
        Those limits.
    engine : Engine
        Catalog and predictor.
    pick : str
        As what it was chosen: the limits that bind are those that keep this pick from another.
    """
    plans = evaluated.plans
    rows = surest_known(plans, rows)  # as the picks are chosen
    rival = rival_row(plans, rows, row)
    rival_usd = None if rival is None else float(plans["cost_usd"].iloc[rival])
    first = [row] if rival is None else [row, rival]
    others = contender_rows(plans, rows)
    # A plan of the same machines elsewhere is no other choice: its bill turns out the same way.
    taken = set(plans["entry"].iloc[first])
    others = others[[entry not in taken for entry in plans["entry"].iloc[others]]]
    all_rows = np.concatenate([first, others]).astype(int)
    draws = bill_draws(evaluated, all_rows, engine)
    regret, beats = draws.regret_usd, draws.beats(0)
    robust = int(np.argmin(regret))
    near = 1 + np.argsort(beats[1:], kind="stable")[:DUELS]
    return Choice(
        chosen=option_of(plans, row),
        why=_why(evaluated, row, rival, float(beats[1]) if rival is not None else None),
        rival=None if rival is None else option_of(plans, rival),
        bindings=bindings(evaluated, row, limits, pick),
        flips=flips_of(evaluated, rows, row, limits),
        swings=swings(evaluated, row, engine, rival_usd),
        break_evens=() if rival_usd is None else break_evens(evaluated, row, engine, rival_usd),
        cheapest_probability=float(draws.cheapest[0]),
        regret_usd=float(regret[0]),
        duels=tuple(
            Duel(
                other=option_of(plans, int(all_rows[at])),
                beats_probability=float(beats[at]),
                regret_usd=float(regret[at]),
            )
            for at in near
        ),
        robust=option_of(plans, int(all_rows[robust])),
        robust_regret_usd=float(regret[robust]),
        considered=len(all_rows),
    )


def rival_row(plans: pd.DataFrame, rows: np.ndarray, row: int) -> int | None:
    """Return the plan to beat: the cheapest on other machines, or the cheapest of all."""
    cost = plans["cost_usd"].to_numpy()
    cheapest = int(rows[np.argmin(cost[rows])])
    if cost[row] > cost[cheapest]:
        return cheapest
    other = plans["instance_type"].to_numpy()[rows] != plans["instance_type"].iloc[row]
    if not other.any():
        other = plans["entry"].to_numpy()[rows] != plans["entry"].iloc[row]
    left = rows[other]
    return int(left[np.argmin(cost[left])]) if len(left) else None


def bindings(
    evaluated: Evaluated, row: int, limits: Constraints, pick: str = "cheapest"
) -> tuple[Binding, ...]:
    """Return the limits without which another plan would be picked, those that cost most first.

    Each limit is left out alone, the table filtered again, and the same pick taken from it.
    """
    plans = evaluated.plans
    now = plans.iloc[row]
    found = []
    for name in limits.given():
        without = limits.without(name)
        rows = np.flatnonzero(apply(plans, without)[0])
        then = pick_rows(plans, rows, without)[pick] if len(rows) else row
        plan = plans.iloc[then]
        saved = Binding(
            limit=name,
            saving_usd=float(now["cost_usd"] - plan["cost_usd"]),
            saving_hours=float(now["hours"] - plan["hours"]),
            then=option_of(plans, then),
        )
        if then != row and _worth_saying(saved, now, pick):
            found.append(saved)
    if pick == "fastest":
        return tuple(sorted(found, key=lambda binding: -binding.saving_hours))
    return tuple(sorted(found, key=lambda binding: -binding.saving_usd))


def _worth_saying(saved: Binding, now: pd.Series, pick: str) -> bool:
    """Return whether a limit costs more than a trifle of what the pick is about."""
    if pick == "cheapest":
        return bool(saved.saving_usd > WORTH_SAYING * now["cost_usd"])
    if pick == "fastest":
        return bool(saved.saving_hours > WORTH_SAYING * now["hours"])
    return True


def flips_of(
    evaluated: Evaluated, rows: np.ndarray, row: int, limits: Constraints
) -> tuple[Flip, ...]:
    """Return what would make another plan the cheapest, and which; parameters as of `flips`."""
    return tuple(
        Flip(
            change=flip.change, now=flip.now, by=flip.by,
            then=None if flip.row is None else option_of(evaluated.plans, flip.row),
        )
        for flip in flips(evaluated, rows, row, limits)
    )  # fmt: skip


def option_of(plans: pd.DataFrame, row: int) -> Option:
    """Return a row of the table in short."""
    plan = plans.iloc[row]
    return Option(
        cluster=cluster_of(plan),
        market=plan["market"],
        cost_usd=float(plan["cost_usd"]),
        hours=float(plan["hours"]),
    )


def _why(evaluated: Evaluated, row: int, rival: int | None, beats: float | None) -> tuple[str, ...]:
    """Return where the difference to the rival comes from: the rate, the hours, the rest."""
    if rival is None:
        return ("It is the only plan within the limits.",)
    plans = evaluated.plans
    own, other = plans.iloc[row], plans.iloc[rival]
    less = other["cost_usd"] - own["cost_usd"]
    name = f"{other['machines']:,} × {other['instance_type']} ({other['region']})"
    said = f"{usd(abs(less))} {'less' if less >= 0 else 'more'} than {name}"
    rates = [float(plan["machines"] * plan["usd_per_h"]) for plan in (own, other)]
    rent = [rate * float(plan["hours"]) for rate, plan in zip(rates, (own, other), strict=True)]
    # Half of what rate and hours change together belongs to each (Shapley).
    by_rate = (rates[0] - rates[1]) * float(own["hours"] + other["hours"]) / 2
    by_hours = float(own["hours"] - other["hours"]) * sum(rates) / 2
    rest = float(own["cost_usd"] - other["cost_usd"]) - (rent[0] - rent[1])
    parts = [
        f"its machines cost {usd(rates[0])} an hour against {usd(rates[1])} ({_signed(by_rate)})",
        (
            f"it takes {hours(own['hours'])}{NBSP}h against {hours(other['hours'])}{NBSP}h "
            f"({_signed(by_hours)})"
        ),
    ]
    if abs(rest) > WORTH_SAYING * own["cost_usd"]:
        parts.append(f"storage, failed attempts and the rest {_signed(rest)}")
    sure = (
        ""
        if beats is None
        else (f"Its bill turns out the lower of the two with a chance of {percent(beats)}.")
    )
    return tuple(text for text in (f"{said}: {', '.join(parts)}.", sure) if text)


def _signed(amount_usd: float) -> str:
    return f"{'−' if amount_usd < 0 else '+'}${number(abs(amount_usd))}"
