"""What a measurement is worth: never less than nothing, nothing where nothing can change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from advisor.predictor.value_of_information import Choices, Worth, worth_of_measuring

costs = st.floats(0.5, 20.0)
spreads = st.floats(0.01, 1.0)


def worth(
    variable: list[float], covariance: np.ndarray, *, noise: float = 0.1, fixed: float = 0.0
) -> Worth:
    """Return the worth of measuring each choice itself."""
    choices = Choices(np.full(len(variable), fixed), np.array(variable), covariance)
    each = [[position] for position in range(len(variable))]
    return worth_of_measuring(choices, np.tile(covariance, (2, 2)), noise, each)


def shared(sigmas: list[float], correlation: float) -> np.ndarray:
    spread = np.array(sigmas)
    same = np.full((len(spread), len(spread)), correlation)
    np.fill_diagonal(same, 1.0)
    return np.outer(spread, spread) * same


@given(
    st.lists(st.tuples(costs, spreads), min_size=1, max_size=5),
    st.floats(0.0, 0.99),
    st.floats(0.01, 1.0),
)
def test_a_measurement_is_never_expected_to_raise_regret(
    choices: list[tuple[float, float]], correlation: float, noise: float
) -> None:
    variable, sigmas = map(list, zip(*choices, strict=True))
    found = worth(variable, shared(sigmas, correlation), noise=noise)
    assert found.regret_before >= 0
    assert (found.saving >= -1e-12).all()
    assert (found.regret_after >= 0).all()
    assert 0 <= found.wrong_before <= 1


@given(costs, spreads, st.floats(0.0, 0.9))
def test_two_like_choices_are_equally_worth_measuring(
    cost: float, sigma: float, correlation: float
) -> None:
    found = worth([cost, cost], shared([sigma, sigma], correlation))
    assert found.regret_after[0] == pytest.approx(found.regret_after[1], rel=0.2, abs=0.02 * cost)


@given(costs, st.floats(0.01, 0.2))
def test_where_one_choice_dominates_there_is_nothing_to_save(cost: float, sigma: float) -> None:
    found = worth([cost, 100 * cost], shared([sigma, sigma], 0.0))
    assert found.best == 0
    assert found.regret_before == 0
    assert found.wrong_before == 0
    assert (found.saving == 0).all()


def test_the_only_choice_cannot_be_wrong() -> None:
    found = worth([5.0], np.array([[0.3]]))
    assert (found.regret_before, found.wrong_before) == (0.0, 0.0)


def test_what_moves_all_costs_alike_changes_no_choice() -> None:
    found = worth([2.0, 2.1], shared([0.5, 0.5], 1.0))
    assert found.best == 0
    assert found.regret_before == pytest.approx(0.0, abs=1e-9)
    assert found.saving == pytest.approx(0.0, abs=1e-9)


def test_a_perfect_measurement_of_the_only_uncertain_choice_leaves_no_regret() -> None:
    found = worth([3.0, 3.0], np.diag([0.0, 0.25]), noise=1e-6)
    assert found.best == 0  # the expected cost of the other lies above its median
    assert found.regret_before > 0.1
    # Only the chance of the draws is left: the saving is of drawn results, the regret of costs.
    assert found.regret_after[1] < 0.1 * found.regret_before
    assert found.wrong_after[1] == pytest.approx(0.0, abs=0.01)
    assert found.saving[0] == pytest.approx(0.0, abs=1e-9)


def test_the_saving_is_that_of_an_option() -> None:
    # A choice of 1 against exp(e): to be able to change after seeing e exactly is a put on a
    # log-normal price of mean forward = exp(s²/2) and strike 1 (Black, 1976).
    sigma, forward = 0.5, float(np.exp(0.125))
    upper = np.log(forward) / sigma + sigma / 2
    put = norm.cdf(sigma - upper) - forward * norm.cdf(-upper)
    found = worth([1.0, 1.0], np.diag([0.0, sigma**2]), noise=1e-9)
    assert found.saving[1] == pytest.approx(put, rel=0.05)


def test_a_noisier_measurement_is_worth_less_and_results_repeat() -> None:
    covariance = shared([0.4, 0.6, 0.3], 0.3)
    fine = worth([1.0, 1.05, 1.1], covariance, noise=0.05)
    coarse = worth([1.0, 1.05, 1.1], covariance, noise=1.0)
    assert (fine.saving > coarse.saving).all()
    again = worth([1.0, 1.05, 1.1], covariance, noise=0.05)
    assert np.array_equal(fine.regret_after, again.regret_after)


def test_a_fixed_part_of_the_cost_is_not_regretted() -> None:
    covariance = shared([0.4, 0.4], 0.0)
    bare, with_fixed = worth([1.0, 1.0], covariance), worth([1.0, 1.0], covariance, fixed=7.0)
    assert with_fixed.regret_before == pytest.approx(bare.regret_before)
    assert with_fixed.saving == pytest.approx(bare.saving)


def test_of_errors_that_go_together_two_measurements_say_what_one_does_not() -> None:
    covariance = shared([0.6, 0.6, 0.6], 0.9)
    choices = Choices(np.zeros(3), np.array([1.0, 1.1, 1.3]), covariance)
    sets = [[0], [1], [2], [0, 1], [1, 2]]
    found = worth_of_measuring(choices, np.tile(covariance, (2, 2)), 0.05, sets)
    assert found.saving[3] > 2 * found.saving[:3].max()
    assert found.saving[3] > found.saving[4]
