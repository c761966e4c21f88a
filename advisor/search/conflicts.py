"""Which limits exclude each other: the smallest set that no plan satisfies together."""

from __future__ import annotations

from functools import reduce
from itertools import combinations
from operator import or_
from typing import TYPE_CHECKING

import numpy as np

from advisor.search.constraints import Constraints, filter_masks

if TYPE_CHECKING:
    import pandas as pd

# What no user can relax: these plans do not exist.
FACTS = ("price_not_trusted", "available", "capacity_block")


def smallest_conflict(plans: pd.DataFrame, limits: Constraints) -> tuple[str, ...]:
    """Return the fewest limits that leave no plan together; empty where one is left, or none was.

    Every plan breaks a set of limits. Limits that no plan satisfies together are those that hit
    each of these sets (Reiter 1987, conflicts and hitting sets), so they are found on the few
    distinct smallest sets instead of on the plans: by size, then in the order of `filter_masks`.
    """
    names, codes = _violations(plans, limits)
    smallest = _minimal(codes)
    if not smallest or 0 in smallest:
        return ()
    bits = [1 << at for at in range(len(names)) if any(code >> at & 1 for code in smallest)]
    for size in range(1, len(bits) + 1):
        for chosen in combinations(bits, size):
            joined = reduce(or_, chosen)
            if all(code & joined for code in smallest):
                return _named(names, joined)
    return ()


def smallest_violations(
    plans: pd.DataFrame, limits: Constraints
) -> list[tuple[tuple[str, ...], np.ndarray]]:
    """Return the smallest sets of limits that plans break, fewest first, and those plans' rows.

    Without one of these sets the limits leave a plan.
    """
    names, codes = _violations(plans, limits)
    ordered = sorted(_minimal(codes), key=lambda code: (code.bit_count(), code))
    return [(_named(names, code), np.flatnonzero(codes == code)) for code in ordered if code]


def _violations(plans: pd.DataFrame, limits: Constraints) -> tuple[list[str], np.ndarray]:
    """Return the limits, and of every plan one bit per limit it breaks; -1 is no plan at all."""
    codes = np.zeros(len(plans), dtype=np.int64)
    names: list[str] = []
    for name, satisfied in filter_masks(plans, limits):
        if name in FACTS:
            codes[~satisfied] = -1
        else:
            codes[~satisfied & (codes >= 0)] |= np.int64(1) << len(names)
            names.append(name)
    return names, codes


def _minimal(codes: np.ndarray) -> list[int]:
    """Return the distinct codes that hold no other one."""
    distinct = sorted((int(code) for code in np.unique(codes[codes >= 0])), key=int.bit_count)
    kept: list[int] = []
    for code in distinct:
        if not any(code & other == other for other in kept):
            kept.append(code)
    return kept


def _named(names: list[str], code: int) -> tuple[str, ...]:
    return tuple(name for at, name in enumerate(names) if code >> at & 1)
