"""Spot plans as columns: they agree with the simulation, quickly, and say what they rest on."""

from __future__ import annotations

import math
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.catalog import load
from advisor.core.errors import InvalidInputError
from advisor.transient import (
    INTERVALS,
    NO_DATA,
    POLICIES,
    Draws,
    Overheads,
    SpotJob,
    known_lifetime,
    spot_columns,
    with_bands,
)
from advisor.transient.together import measured_together

H = 3600.0
BANDS = ((0.0, 0.05), (0.05, 0.1), (0.1, 0.15), (0.15, 0.2), (0.2, 1.0))
GIVEN = {
    "cloud": "aws", "region": "us-east-1", "accelerator": "H100", "market": "spot",
    "machines": 4.0, "training_h": 12.0, "log_sigma": 0.2, "usd_per_h": 30.0,
    "checkpoint_bytes": 90e9, "startup_s": 120.0, "startup_log_sigma": 0.0, "interruption_low": 0.2,
    "interruption_high": 1.0,
}  # fmt: skip


def plans(count: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    band = np.array(BANDS)[rng.integers(0, 5, count)]
    google = rng.random(count) < 0.2
    gpus = np.array(["K80", "P100", "V100"])[rng.integers(0, 3, count)]
    return pd.DataFrame(
        {
            "cloud": np.where(google, "gcp", "aws"),
            "region": np.where(google, "us-west1", "us-east-1"),
            "accelerator": np.where(google, gpus, "H100"),
            "market": "spot",
            "machines": 2.0 ** rng.integers(0, 5, count),
            "training_h": np.exp(rng.uniform(0, 5, count)),
            "log_sigma": rng.uniform(0.05, 0.4, count),
            "usd_per_h": rng.uniform(1, 40, count),
            "checkpoint_bytes": 1e9 * np.exp(rng.uniform(0, 6, count)),
            "startup_s": rng.uniform(50, 400, count),
            "startup_log_sigma": 0.0,
            "interruption_low": np.where(google, np.nan, band[:, 0]),
            "interruption_high": np.where(google, np.nan, band[:, 1]),
        }
    )


def one(**changes: object) -> pd.Series:
    return spot_columns(pd.DataFrame([GIVEN | changes]), deadline_h=15.0).iloc[0]


def test_columns_agree_with_the_simulation_of_the_same_plans() -> None:
    table = plans(400)
    found = spot_columns(table, deadline_h=30.0)
    checked = 0
    for row in np.flatnonzero(found["revocations"].between(0.05, 25))[:25]:
        plan, seen = table.iloc[row], found.iloc[row]
        band = (plan["interruption_low"], plan["interruption_high"])
        known = known_lifetime(
            plan["accelerator"], plan["cloud"], plan["region"], "spot",
            None if math.isnan(band[0]) else band,
        )  # fmt: skip
        assert known is not None
        write = plan["checkpoint_bytes"] / plan["machines"] / 1e9
        job = SpotJob(
            work_s=plan["training_h"] * H,
            machines=int(plan["machines"]),
            lifetime=known.lifetime,
            usd_per_h=plan["usd_per_h"],
            overheads=Overheads(start_s=plan["startup_s"], load_s=write, checkpoint_s=write),
            common_share=measured_together().common_share,
            hazard_log_sigma=known.log_sigma,
            work_log_sigma=plan["log_sigma"],
        )
        segments = round(plan["training_h"] / seen["interval_h"])
        hours = POLICIES["restart"]().simulate(job, segments, Draws(20_000)).finish_s / H
        assert seen["hours"] == pytest.approx(hours.mean(), rel=0.03)
        assert seen["hours_p50"] == pytest.approx(np.quantile(hours, 0.5), rel=0.03)
        assert seen["hours_p90"] == pytest.approx(np.quantile(hours, 0.9), rel=0.05)
        assert seen["deadline_probability"] == pytest.approx((hours <= 30).mean(), abs=0.03)
        checked += 1
    assert checked == 25


@pytest.mark.parametrize("checkpoint_bytes", [0.0, 1e6, 90e9, 1e15])
def test_checkpoints_are_written_as_often_as_by_the_rule_of_one_job(
    checkpoint_bytes: float,
) -> None:
    known = known_lifetime("H100", "aws", "us-east-1", "spot", (0.2, 1.0))
    assert known is not None
    write = checkpoint_bytes / 4 / 1e9
    job = SpotJob(
        work_s=12 * H, machines=4, lifetime=known.lifetime, usd_per_h=30.0,
        overheads=Overheads(start_s=120.0, load_s=write, checkpoint_s=write),
        common_share=measured_together().common_share,
    )  # fmt: skip
    parts = job.segments(INTERVALS["young"]().interval_s(job))
    assert one(checkpoint_bytes=checkpoint_bytes)["interval_h"] == pytest.approx(12 / parts)


def test_ten_thousand_plans_take_a_third_of_a_second() -> None:
    table = plans(10_000)
    spot_columns(table.head(50))
    times = []
    for _ in range(3):
        begin = time.process_time()
        spot_columns(table, deadline_h=30.0)
        times.append(time.process_time() - begin)
    assert min(times) < 0.6  # 0.25 s on an idle core; a shared one is slower


@given(st.floats(0.05, 300), st.integers(1, 64), st.floats(0, 0.6), st.sampled_from(BANDS))
def test_estimates_are_ordered_and_never_below_the_bound(
    training_h: float, machines: int, sigma: float, band: tuple[float, float]
) -> None:
    seen = one(
        training_h=training_h, machines=float(machines), log_sigma=sigma,
        interruption_low=band[0], interruption_high=band[1],
    )  # fmt: skip
    assert seen["hours_p10"] <= seen["hours_p50"] <= seen["hours_p90"]
    assert seen["hours"] >= seen["least_h"]
    assert seen["expected_usd"] >= seen["least_usd"]
    assert 0 <= seen["deadline_probability"] <= 1
    assert 0 <= seen["untouched"] <= 1


def test_a_market_without_data_says_so_and_keeps_its_bound() -> None:
    seen = one(interruption_low=math.nan, interruption_high=math.nan)
    assert seen["basis"] == NO_DATA
    assert math.isnan(seen["expected_usd"])
    assert seen["least_usd"] == pytest.approx(4 * 30 * (12 + 120 / H))


def test_a_market_is_looked_up_once_with_and_without_a_band(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[object, ...]] = []

    def counting(*args: object) -> object:
        asked.append(args)
        return known_lifetime(*args)  # type: ignore[arg-type]

    monkeypatch.setattr("advisor.transient.columns.known_lifetime", counting)
    table = plans(40).assign(region="counted-1")
    spot_columns(table)
    first = len(asked)
    assert first > 0
    spot_columns(table)
    assert len(asked) == first


def test_the_basis_is_named_with_gpu_region_count_and_year() -> None:
    seen = one(cloud="gcp", accelerator="K80", region="us-east1", interruption_low=math.nan)
    assert (seen["basis_gpu"], seen["basis_region"]) == ("K80", "us-east1")
    assert (seen["basis_n"], seen["basis_year"]) == (30, 2019)


def test_more_interruptions_cost_more() -> None:
    bills = [one(interruption_low=low, interruption_high=high)["expected_usd"]
             for low, high in BANDS]  # fmt: skip
    assert bills == sorted(bills)


def test_a_plan_that_never_gets_ahead_takes_for_ever() -> None:
    seen = one(
        cloud="gcp", accelerator="V100", region="us-central1", interruption_low=math.nan,
        machines=4000.0, training_h=500.0, checkpoint_bytes=1e17,
    )  # fmt: skip
    assert seen["hours_p90"] > 1e6
    assert seen["deadline_probability"] < 1e-6


def test_bands_come_from_the_catalog() -> None:
    catalog = load()
    row = catalog.tables.interruption.iloc[0]
    asked = pd.DataFrame(
        {
            "cloud": ["aws", "gcp"],
            "region": [row["region"], "us-east1"],
            "instance_type": [row["instance_type"], "a2-highgpu-1g"],
        },
        index=[7, 3],
    )
    found = with_bands(asked, catalog)
    assert found["interruption_low"].tolist()[0] == row["low"]
    assert found["interruption_high"].isna().tolist() == [False, True]
    assert found.index.tolist() == [7, 3]


def test_no_plans_give_no_rows() -> None:
    assert spot_columns(plans(3).head(0)).empty


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"training_h": -1.0}, "row 0: training_h is -1"),
        ({"machines": 0.0}, "machines is 0"),
        ({"usd_per_h": math.nan}, "usd_per_h is nan"),
    ],
)
def test_a_number_out_of_range_is_refused_with_its_row(
    changes: dict[str, object], says: str
) -> None:
    with pytest.raises(InvalidInputError, match=says):
        one(**changes)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InvalidInputError, match="startup_s is missing"):
        spot_columns(plans(2).drop(columns="startup_s"))


def test_a_start_that_varies_widens_the_finish_and_adds_no_loss() -> None:
    short = {"training_h": 0.1, "log_sigma": 0.05, "startup_s": 600.0}
    fixed, varied = one(**short), one(**short, startup_log_sigma=0.42)
    assert varied["hours_p90"] - varied["hours_p10"] > 3 * (fixed["hours_p90"] - fixed["hours_p10"])
    # A start that is log-normal is longer on average than in the median.
    longer_h = 600 / H * (np.exp(0.42**2 / 2) - 1)
    assert varied["hours"] - fixed["hours"] == pytest.approx(longer_h, rel=0.01)
    assert varied["lost_h"] == pytest.approx(fixed["lost_h"])
