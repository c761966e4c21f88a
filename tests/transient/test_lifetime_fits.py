"""Fits of lifetimes to observed ones: known truths come back, bad history is refused."""

from __future__ import annotations

import contextlib
import datetime as dt
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.core.errors import AdvisorError, InvalidInputError, PredictionError
from advisor.transient.fit import (
    fit_exponential,
    fit_piecewise,
    fit_weibull,
    rate_bound,
    spread_of_places,
)
from advisor.transient.history import lifetime_of_history, read_history
from advisor.transient.lifetime import Exponential, Weibull
from advisor.transient.observed import Observed
from advisor.transient.piecewise import PiecewiseHazard
from advisor.transient.together import fit_together, group_hazard, measured_together

H = 3600.0
HOURS = np.arange(24.0) * H


def watched(life: Weibull | Exponential, n: int, until_s: float, seed: int = 1) -> Observed:
    ages = life.sample(np.random.default_rng(seed), n)
    return Observed.of_times(np.minimum(ages, until_s), ages < until_s)


def by_the_hour(seen: Observed) -> Observed:
    """The same machines, looked at every full hour."""
    gone = np.isfinite(seen.to_s)
    hour = np.floor(seen.from_s / H) * H
    return Observed(
        np.where(gone, hour, seen.from_s), np.where(gone, hour + H, np.inf), seen.machines
    )


@pytest.mark.parametrize("intervals", [False, True])
def test_a_weibull_truth_comes_back_from_censored_machines(intervals: bool) -> None:
    seen = watched(Weibull(shape=0.6, scale_s=15 * H), 4000, 24 * H)
    fitted = fit_weibull(by_the_hour(seen) if intervals else seen)
    assert fitted.shape == pytest.approx(0.6, rel=0.05)
    assert fitted.scale_s == pytest.approx(15 * H, rel=0.1)


def test_a_constant_hazard_is_revocations_over_machine_hours() -> None:
    seen = Observed.of_times(np.array([2, 3, 10, 10.0]) * H, np.array([1, 1, 0, 0]))
    assert fit_exponential(seen).rate_per_s == pytest.approx(2 / (25 * H), rel=1e-4)


def test_a_front_loaded_truth_is_found_by_the_empirical_hazard() -> None:
    truth = Weibull(shape=0.4, scale_s=20 * H)
    fitted = fit_piecewise(watched(truth, 20_000, 24 * H), HOURS)
    ages = np.array([1, 2, 6, 20.0]) * H
    assert fitted.survival(ages) == pytest.approx(truth.survival(ages), abs=0.02)


def test_a_strong_prior_wins_and_a_weak_one_does_not() -> None:
    seen = watched(Exponential(rate_per_s=1e-5), 500, 24 * H)
    prior = Exponential(rate_per_s=1e-3)
    strong = fit_piecewise(seen, HOURS, prior, 1e9).cumulative_hazard(24 * H)
    weak = fit_piecewise(seen, HOURS, prior, 1e-6).cumulative_hazard(24 * H)
    assert strong == pytest.approx(1e-3 * 24 * H, rel=1e-3)
    assert weak == pytest.approx(1e-5 * 24 * H, rel=0.2)


@given(st.lists(st.floats(0, 80), min_size=1, max_size=30), st.integers(0, 2**30))
def test_a_life_table_loses_no_revocation_and_no_hour(ages_h: list[float], mask: int) -> None:
    gone = np.array([(mask >> k) & 1 for k in range(len(ages_h))])
    seen = Observed.of_times(np.array(ages_h) * H, gone)
    events, exposure = seen.life_table(np.append(HOURS, np.inf))
    assert events.sum() == pytest.approx(gone.sum())
    # One that is gone at once has lived for half a second of the first.
    assert exposure.sum() == pytest.approx(sum(ages_h) * H, abs=0.5 * len(ages_h))


def places(log_sigma: float, count: int = 60) -> dict[str, Observed]:
    rng = np.random.default_rng(5)
    factors = np.exp(log_sigma * rng.standard_normal(count))
    return {
        str(place): watched(Exponential(rate_per_s=factor / (20 * H)), 200, 24 * H, place)
        for place, factor in enumerate(factors)
    }


def test_the_spread_between_places_comes_back_without_that_of_counting() -> None:
    of_gpu = PiecewiseHazard(edges_s=tuple(HOURS), rates_per_s=(1 / (20 * H),) * len(HOURS))
    assert spread_of_places(places(0.6), of_gpu) == pytest.approx(0.6, rel=0.2)
    assert spread_of_places(places(0.0), of_gpu) < 0.1
    # Where events come in batches, more of the same spread is chance.
    assert spread_of_places(places(0.1), of_gpu, design_effect=20.0) == 0
    assert spread_of_places(places(0.6, count=1), of_gpu) == 0


def test_a_machine_gone_in_its_first_second_does_not_break_the_fit() -> None:
    ages = Weibull(shape=0.6, scale_s=15 * H).sample(np.random.default_rng(2), 400)
    gone = ages < 24 * H
    ages = np.minimum(ages, 24 * H)
    without = fit_weibull(Observed.of_times(ages, gone))
    ages[0], gone[0] = 0.0, True
    seen = Observed.of_times(ages, gone)
    assert (seen.from_s[0], seen.to_s[0]) == (0.0, 1.0)
    found = fit_weibull(seen)
    assert found.shape == pytest.approx(without.shape, rel=0.05)
    assert found.scale_s == pytest.approx(without.scale_s, rel=0.05)
    assert np.isfinite(seen.log_likelihood(found))


def test_a_history_with_equal_start_and_stop_has_a_lifetime() -> None:
    rows = ["2026-01-01 00:00,2026-01-01 00:00"] + [
        f"2026-01-01 00:00,2026-01-01 {hour:02}:00" for hour in range(1, 20)
    ]
    known = lifetime_of_history(read_history("\n".join(["start,stop", *rows])))
    assert 0 < known.lifetime.survival(10 * H) < 1


def test_a_likelihood_without_a_maximum_is_no_fit() -> None:
    # Known to the instant 0, where the density of a front-loaded lifetime has no bound.
    ages = np.array([0.0, H, 5 * H, 9 * H])
    with pytest.raises(PredictionError, match="Weibull lifetime"):
        fit_weibull(Observed(ages, ages, np.ones(4)))


def test_ages_that_are_no_numbers_are_refused() -> None:
    for ages in (np.array([math.nan]), np.array([math.inf])):
        with pytest.raises(InvalidInputError, match="no number"):
            Observed.of_times(ages, np.array([1]))
    with pytest.raises(InvalidInputError, match="no number"):
        Observed(np.array([1.0]), np.array([math.nan]), np.ones(1))


def test_no_revocation_gives_a_bound_and_no_fit() -> None:
    seen = Observed.of_times(np.full(10, 100 * H), np.zeros(10))
    assert rate_bound(seen) == pytest.approx(2.9957 / (1000 * H), rel=1e-4)  # the rule of three
    with pytest.raises(PredictionError, match="none of 10 machines was revoked"):
        fit_exponential(seen)
    known = lifetime_of_history(seen)
    assert "the highest rate that fits" in known.basis.words


def test_the_likelihood_of_an_interval_is_its_probability() -> None:
    life = Exponential(rate_per_s=1 / H)
    seen = Observed(np.array([0.0]), np.array([H]), np.array([3.0]))
    assert seen.log_likelihood(life) == pytest.approx(3 * np.log(1 - np.exp(-1)))


def test_a_history_is_read_with_machines_that_still_run() -> None:
    text = "start,stop,revoked\n2026-01-01 00:00,2026-01-01 05:00,1\n2026-01-01 00:00,,\n"
    now = dt.datetime(2026, 1, 3, tzinfo=dt.UTC)
    seen = read_history(text, now)
    assert (seen.from_s / H).tolist() == [5, 48]
    assert np.isfinite(seen.to_s).tolist() == [True, False]
    assert (read_history(text).from_s / H).tolist() == [5, 5]  # until the latest time known


def test_time_zones_are_respected() -> None:
    seen = read_history("start,stop\n2026-01-01T00:00:00+02:00,2026-01-01T00:00:00Z\n")
    assert seen.from_s.tolist() == [2 * H]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no column start"),
        ("start,stop\n", "has no machine"),
        ("begin,end\n1,2\n", "no column start"),
        ("start,stop\n2026-01-02,2026-01-01\n", "row 2: the machine stops 86,400 s before"),
        ("start,stop\n2026-01-01,soon\n", "row 2: “soon” is no time"),
        ("start,stop\n,2026-01-01\n", "the start is empty"),
        ("start,stop,revoked\n2026-01-01,2026-01-02,maybe\n", "revoked is “maybe”"),
        ("x" * 20_000_001, "more than 20 MB"),
    ],
)
def test_a_bad_history_is_refused_with_row_and_remedy(text: str, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        read_history(text)


@given(st.text(max_size=200))
def test_any_text_is_a_history_or_refused(text: str) -> None:
    with contextlib.suppress(AdvisorError):
        assert read_history("start,stop\n" + text).n > 0


def test_a_long_history_gives_its_own_front_loaded_lifetime() -> None:
    truth = Weibull(shape=0.5, scale_s=40 * H)
    known = lifetime_of_history(watched(truth, 800, 72 * H))
    ages = np.array([1, 24, 60.0]) * H
    assert known.lifetime.survival(ages) == pytest.approx(truth.survival(ages), abs=0.05)
    assert known.basis.n == 800
    assert known.log_sigma < 0.06


def test_empty_and_negative_observations_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="no machine"):
        Observed(np.array([]), np.array([]), np.array([]))
    with pytest.raises(InvalidInputError, match="negative"):
        Observed.of_times(np.array([-1.0]), np.array([1]))


def test_a_common_share_comes_back_from_simulated_batches() -> None:
    rng = np.random.default_rng(3)
    share, size, rows = 0.3, 8, []
    for batch in range(400):
        alone = rng.exponential(40 / (1 - share), size)
        age = np.minimum(alone, rng.exponential(40 / share))
        rows += [(batch, min(a, 24.0), a < 24) for a in age]
    frame = pd.DataFrame(rows, columns=["batch", "lifetime_h", "revoked"])
    assert fit_together(frame).common_share == pytest.approx(share, abs=0.05)


def test_machines_that_die_alone_have_no_common_share() -> None:
    frame = pd.DataFrame(
        {"batch": [1, 1, 2, 2], "lifetime_h": [1, 9, 5, 24], "revoked": [1, 1, 1, 0]}
    )
    assert fit_together(frame).common_share == 0
    with pytest.raises(InvalidInputError, match="between 0 and 1"):
        group_hazard(4, 1.5)


def test_measured_machines_of_one_launch_hang_together() -> None:
    found = measured_together()
    assert (found.machines, found.batches) == (152, 21)
    assert 0.05 < found.common_share < 0.4
    assert found.design_effect > 2


def test_large_batches_weigh_by_their_machines() -> None:
    # Two machines revoked together and six that live: each batch says as much as one machine.
    frame = pd.DataFrame(
        {"batch": [1, 1, *[2] * 6], "lifetime_h": [1.0] * 8, "revoked": [1, 1, *[0] * 6]}
    )
    found = fit_together(frame)
    assert found.batch_correlation == pytest.approx(1)
    assert found.machines_per_batch == pytest.approx((2**2 + 6**2) / 8)
    assert found.design_effect == pytest.approx(5)
