"""Intervals: they cover what they promise, honestly and by group."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from advisor.predictor.interval import FEWEST_RESIDUALS, GroupConformal, equal_weights

SPREADS = np.array([0.1, 0.3, 1.0])


def synthetic(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return groups of different spread, which grows with the distance as the model has it."""
    random = np.random.default_rng(seed)
    groups, distance = random.integers(0, 3, rows), random.exponential(2.0, rows)
    scale = SPREADS[groups] * (1 + GroupConformal().growth * distance)
    return groups, distance, scale * random.standard_t(3, rows)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("group", [0, 1, 2])
def test_each_group_is_covered_as_promised(level, group) -> None:
    conformal = GroupConformal(level=level).fit(*synthetic(6000, 0))
    groups, distance, residual = synthetic(6000, 1)
    own = groups == group
    inside = np.abs(residual[own]) <= conformal.half_width(groups[own], distance[own])
    # Both samples scatter: twice the variance of one.
    low, high = binom.interval(0.9999, own.sum() // 2, level)
    assert low / (own.sum() // 2) <= inside.mean() <= high / (own.sum() // 2)


def test_the_spread_is_that_of_a_log_normal_with_the_same_interval() -> None:
    random = np.random.default_rng(0)
    residual = random.normal(0, 0.25, 20_000)
    conformal = GroupConformal().fit(np.zeros(20_000), np.zeros(20_000), residual)
    assert conformal.sigma([0], [0.0]) == pytest.approx([0.25], rel=0.03)


def test_the_rank_is_that_of_the_finite_sample_correction() -> None:
    # n = 99, level 0.9: the ceil(100 · 0.9) = 90th smallest.
    scores = np.random.default_rng(0).permutation(np.arange(1.0, 100.0))
    conformal = GroupConformal(growth=0.0).fit(np.zeros(99), np.zeros(99), scores)
    assert conformal.half_width([0], [0.0]) == [90.0]


def test_signs_do_not_matter() -> None:
    groups, distance, residual = synthetic(1000, 0)
    one, other = (GroupConformal().fit(groups, distance, sign * residual) for sign in (1, -1))
    assert one.half_width_ == other.half_width_


def test_intervals_widen_with_the_distance() -> None:
    conformal = GroupConformal().fit(*synthetic(1000, 0))
    widths = conformal.half_width(np.zeros(5), [0.0, 1.0, 5.0, 50.0, 1e4])
    assert (np.diff(widths) > 0).all()
    assert widths[3] / widths[0] == pytest.approx(1 + 50 * conformal.growth)


def test_small_groups_use_the_residuals_of_all() -> None:
    random = np.random.default_rng(0)
    few = FEWEST_RESIDUALS - 1
    groups = np.concatenate([np.zeros(1000), np.ones(few)])
    residual = random.normal(0, np.where(groups == 0, 1.0, 0.01))
    conformal = GroupConformal().fit(groups, np.zeros(len(groups)), residual)
    pooled = conformal.pooled_half_width_
    assert conformal.half_width([1, 7], [0.0, 0.0]).tolist() == [pooled, pooled]
    assert conformal.half_width([0], [0.0]) == pytest.approx([pooled], rel=0.05)


def test_small_groups_use_the_residuals_of_their_family_first() -> None:
    # Families 0 (groups 0 and 1) and 1 (groups 2 and 3); group 3 has no residuals.
    groups = np.repeat([0, 1, 2], 500)
    residual = np.random.default_rng(0).normal(0, np.repeat([0.1, 0.1, 2.0], 500))
    conformal = GroupConformal(siblings=2).fit(groups, np.zeros(1500), residual)
    widths = conformal.half_width([0, 2, 3, 9], np.zeros(4))
    assert widths[2] == conformal.family_half_width_[1] > 5 * widths[0]
    assert widths[3] == conformal.pooled_half_width_


def test_a_harder_question_is_never_answered_more_surely() -> None:
    groups = np.repeat([0, 1], 500)
    residual = np.random.default_rng(0).normal(0, np.repeat([1.0, 0.1], 500))
    free = GroupConformal().fit(groups, np.zeros(1000), residual)
    ordered = GroupConformal(easier=((), (0,), (0, 1))).fit(groups, np.zeros(1000), residual)
    assert free.half_width([1], [0.0]) < free.half_width([0], [0.0])
    assert ordered.half_width([1], [0.0]) == ordered.half_width([0], [0.0])
    # Nothing is known of family 2 but that it is harder than both.
    assert ordered.half_width([2], [0.0]) == ordered.half_width([0], [0.0])


def test_a_source_of_many_rows_does_not_speak_for_all() -> None:
    # 2,000 easy rows of one source, 20 hard ones of each of twenty others.
    random = np.random.default_rng(0)
    source = np.concatenate([np.zeros(2000, int), np.repeat(np.arange(1, 21), 20)])
    residual = random.normal(0, np.where(source == 0, 0.05, 1.0))
    zeros = np.zeros(len(source))
    by_row = GroupConformal().fit(zeros, zeros, residual)
    by_source = GroupConformal().fit(zeros, zeros, residual, source[:, None])
    fresh = np.abs(random.normal(0, 1.0, 2000))
    assert (fresh <= by_row.half_width([0], [0.0])).mean() < 0.6
    assert (fresh <= by_source.half_width([0], [0.0])).mean() >= 0.88


def test_few_strata_take_the_wider_of_theirs_and_their_family() -> None:
    # Group 0 has 20 sources, group 1 has three: too few for a corrected 90 % quantile.
    random = np.random.default_rng(0)
    source = np.concatenate([np.repeat(np.arange(20), 50), np.repeat([20, 21, 22], 50)])
    groups = (source >= 20).astype(int)
    for spread, own in ((0.01, False), (5.0, True)):
        residual = random.normal(0, np.where(groups == 0, 1.0, spread))
        conformal = GroupConformal(siblings=2)
        conformal.fit(groups, np.zeros(len(groups)), residual, source[:, None])
        family = conformal.family_half_width_[0]
        assert (conformal.half_width_[1] > family) == own
        assert conformal.half_width_[1] >= family


def test_weights_are_equal_over_sources_and_then_over_models() -> None:
    strata = np.array([[0, 0]] * 1000 + [[0, 1]] * 10 + [[1, 2]])
    weights, number = equal_weights(strata)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[:1000].sum() == pytest.approx(0.25)
    assert weights[1000:1010].sum() == pytest.approx(0.25)
    assert weights[-1] == pytest.approx(0.5)
    assert number == pytest.approx(1 / (0.25**2 + 0.25**2 + 0.5**2))


def test_it_is_an_estimator_that_can_be_cloned_and_set() -> None:
    original = GroupConformal(level=0.8, growth=0.2, siblings=4, easier=((), (0,)))
    assert original.get_params() == {
        "level": 0.8, "growth": 0.2, "siblings": 4, "easier": ((), (0,))
    }  # fmt: skip
    copy = clone(original.fit(*synthetic(100, 0)))
    assert copy.get_params() == original.get_params()
    with pytest.raises(NotFittedError):
        copy.half_width([0], [0.0])
    assert copy.set_params(level=0.5).level == 0.5


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_residuals_that_are_no_numbers_are_refused(broken) -> None:
    with pytest.raises(ValueError, match="contains"):
        GroupConformal().fit([0, 0], [0.0, 0.0], [0.1, broken])


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="inconsistent"):
        GroupConformal().fit([0, 0], [0.0, 0.0], [0.1, 0.2], [[0], [0], [0]])


def test_no_query_gives_no_width() -> None:
    assert GroupConformal().fit(*synthetic(100, 0)).half_width([], []).shape == (0,)
