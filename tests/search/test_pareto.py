"""The front: what nothing beats in both."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from advisor.search.pareto import pareto_front

points = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=40)


def brute_force(pairs: list[tuple[int, int]]) -> set[int]:
    """Return what no other beats; of equal pairs the earliest."""
    return {
        i
        for i, (a, b) in enumerate(pairs)
        if not any(
            c <= a and d <= b and ((c, d) != (a, b) or j < i) for j, (c, d) in enumerate(pairs)
            if j != i
        )
    }  # fmt: skip


@given(points)
def test_the_front_is_what_brute_force_finds(pairs: list[tuple[int, int]]) -> None:
    first = np.array([a for a, _ in pairs], dtype=float)
    second = np.array([b for _, b in pairs], dtype=float)
    front = pareto_front(first, second)
    assert set(front.tolist()) == brute_force(pairs)
    assert (np.diff(first[front]) > 0).all()
    assert (np.diff(second[front]) < 0).all()


def test_the_ends_of_the_front_are_the_lowest_of_both() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.lognormal(size=(2, 5000))
    front = pareto_front(first, second)
    assert first[front[0]] == first.min()
    assert second[front[-1]] == second.min()


def test_nothing_has_an_empty_front() -> None:
    assert pareto_front(np.empty(0), np.empty(0)).tolist() == []
