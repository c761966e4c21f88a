"""Which lifetime a market has, and that none is made up."""

from __future__ import annotations

import math

import numpy as np
import pytest

from advisor.core.errors import InvalidInputError
from advisor.transient import known_lifetime
from advisor.transient.markets import from_band, measured_gpus, observed_places, usual_shape

H = 3600.0
DAY = 24 * H


def test_every_measured_place_has_its_own_lifetime() -> None:
    for gpu in measured_gpus():
        for region, seen in observed_places(gpu).items():
            known = known_lifetime(gpu, "gcp", region)
            assert known is not None
            assert (known.basis.kind, known.basis.region, known.basis.n) == (
                "place",
                region,
                seen.n,
            )
            assert known.basis.year == 2019
            within_a_day = 1 - float(known.lifetime.survival(DAY))
            assert within_a_day == pytest.approx(seen.revocations / seen.n, abs=0.2)


def test_measured_hazards_are_front_loaded() -> None:
    for gpu in measured_gpus():
        known = known_lifetime(gpu, "gcp", "nowhere1")
        assert known is not None
        assert known.basis.kind == "accelerator"
        assert known.lifetime.hazard(0.5 * H) > 3 * known.lifetime.hazard(20 * H)


@pytest.mark.parametrize("gpu", measured_gpus())
def test_an_unknown_place_is_less_sure_than_every_known_one(gpu: str) -> None:
    elsewhere = known_lifetime(gpu, "gcp", "asia-south9")
    assert elsewhere is not None
    for region, seen in observed_places(gpu).items():
        here = known_lifetime(gpu, "gcp", region)
        assert here is not None
        assert elsewhere.log_sigma > here.log_sigma
        # Machines come in batches: 21 revocations say less than 21.
        assert here.log_sigma > 1 / math.sqrt(seen.revocations + 1)


def test_preemptible_machines_are_stopped_after_a_day_and_spot_ones_are_not() -> None:
    preemptible = known_lifetime("K80", "gcp", "us-east1", market="preemptible")
    spot = known_lifetime("K80", "gcp", "us-east1")
    assert preemptible is not None
    assert spot is not None
    assert preemptible.lifetime.survival(DAY) == 0
    assert spot.lifetime.survival(DAY) > 0
    assert math.isinf(spot.lifetime.cap_s)


def test_a_market_without_data_has_no_lifetime() -> None:
    assert known_lifetime("A100-80GB", "azure", "eastus") is None
    assert known_lifetime("H100", "gcp", "us-central1") is None
    assert known_lifetime("K80", "aws", "us-east-1") is None


@pytest.mark.parametrize("front_loaded", [False, True])
@pytest.mark.parametrize("band", [(0.0, 0.05), (0.05, 0.1), (0.15, 0.2), (0.2, 1.0)])
def test_a_band_is_the_share_of_a_month(band: tuple[float, float], front_loaded: bool) -> None:
    known = from_band(*band, front_loaded=front_loaded)
    month = 1 - float(known.lifetime.survival(730 * H))
    assert month == pytest.approx(sum(band) / 2, rel=1e-6)


def test_a_band_without_upper_bound_is_the_least_sure() -> None:
    assert from_band(0.2, 1.0).log_sigma > from_band(0.15, 0.2).log_sigma


def test_early_interruptions_count_more_in_a_short_job() -> None:
    early, even = from_band(0.05, 0.1), from_band(0.05, 0.1, front_loaded=False)
    assert early.lifetime.survival(2 * H) < even.lifetime.survival(2 * H)
    assert np.unique(even.lifetime.hazard(np.array([0.0, H, 99 * H]))).size == 1


@pytest.mark.parametrize("band", [(0.2, 0.1), (-0.1, 0.2), (0.5, 1.2), (0.1, 0.1)])
def test_bounds_that_are_no_shares_are_refused(band: tuple[float, float]) -> None:
    with pytest.raises(InvalidInputError, match="no bounds of a share"):
        from_band(*band)


def test_the_usual_shape_rests_on_all_measured_machines() -> None:
    seen = [places for gpu in measured_gpus() for places in observed_places(gpu).values()]
    assert sum(one.n for one in seen) == 396
    assert sum(one.revocations for one in seen) == 206
    assert 1 - float(usual_shape().survival(DAY)) == pytest.approx(206 / 396, abs=0.05)
