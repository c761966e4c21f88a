"""Cephalo's planner: the published plan, and what any plan must satisfy."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from layer_profiles import MEMORY_BYTES, TABLE, measured

from advisor.core.units import GIB
from advisor.strategies.cephalo_planner import (
    ACCUMULATION_S,
    Kind,
    Network,
    plan_shares,
    state_shares,
)
from advisor.strategies.layer_times import LayerTimes, Line

if TYPE_CHECKING:
    from pathlib import Path

MIX = (("L4", 2), ("RTX-A6000", 1), ("P40", 1))
# GPT-2.7B in half precision: memory of computing a micro-batch as its authors measured it.
GPT = Network(
    layers=32, state_bytes=16 * 2_774_553_600, sample_bytes=0.371 * GIB, fixed_bytes=0.75 * GIB
)


def kinds(mix: tuple[tuple[str, int], ...] = MIX) -> tuple[Kind, ...]:
    times = measured("gpt-2.7b")
    return tuple(
        Kind(devices=count, times=times[name], memory_bytes=MEMORY_BYTES[name])
        for name, count in mix
    )


def test_the_published_plan_of_gpt_2_7b_is_found_exactly() -> None:
    plan = plan_shares(kinds(), GPT, 64)
    assert plan is not None
    found = list(zip(plan.batch.tolist(), plan.micro_batches.tolist(), strict=True))
    assert sorted(found[:2], reverse=True) == [(13, 1), (12, 2)]
    assert found[2:] == [(34, 1), (5, 1)]
    assert plan.state_share == pytest.approx([0.25] * 4)
    assert plan.layer_s * 1e3 == pytest.approx(342.3, abs=0.05)


def test_the_fixture_is_what_the_reference_holds(reference: Path) -> None:
    published = pd.read_csv(reference / "data/papers/cephalo_layer_latency_fits.csv")
    own = pd.read_csv(TABLE)
    names = {"L4": "l4", "RTX-A6000": "a6000", "P40": "p40"}
    for row in own[own["profile"] == "gpt-2.7b"].itertuples():
        like = published[
            (published["model"] == "deepspeedgpt_2.7b")
            & (published["gpu"] == names[row.accelerator])
            & (published["precision"] == "float16")
        ]
        assert row.forward_slope_ms == pytest.approx(like["fwd_slope_ms"].item(), rel=1e-5)
        assert row.backward_intercept_ms == pytest.approx(like["bwd_intercept_ms"].item(), rel=1e-5)


def test_without_the_slow_device_the_published_mix_is_slower_by_a_few_percent() -> None:
    whole = plan_shares(kinds(), GPT, 64)
    fewer = plan_shares(kinds(MIX[:2]), GPT, 64)
    assert whole is not None
    assert fewer is not None
    assert 1.0 < fewer.layer_s / whole.layer_s < 1.15


def test_states_that_fit_nowhere_give_no_plan() -> None:
    large = Network(layers=32, state_bytes=200 * GIB, sample_bytes=1.0, fixed_bytes=0.0)
    assert plan_shares(kinds(), large, 64) is None


def test_a_device_without_room_stores_less_and_its_collectives_take_longer() -> None:
    small = (
        Kind(devices=1, times=_line(1e-3), memory_bytes=8 * GIB),
        Kind(devices=1, times=_line(1e-3), memory_bytes=80 * GIB),
    )
    network = Network(layers=1, state_bytes=20 * GIB, sample_bytes=1.0 * GIB, fixed_bytes=0.0,
                      gather_s=1.0, scatter_s=1.0)  # fmt: skip
    plan = plan_shares(small, network, 4)
    assert plan is not None
    assert plan.state_share[0] < plan.state_share[1]
    assert plan.state_share.sum() == pytest.approx(1.0)
    assert plan.device_s[0] == pytest.approx(1.25 + 2.5)
    assert plan.device_s[1] == pytest.approx(3.0)
    assert (plan.memory_bytes <= 0.75 * np.array([8, 80]) * GIB + 1e-3).all()


@given(
    slopes=st.lists(st.floats(1e-3, 20e-3), min_size=2, max_size=3),
    batch=st.integers(2, 7),
    room=st.integers(2, 30),
)
def test_no_other_shares_are_faster(slopes: list[float], batch: int, room: int) -> None:
    devices = tuple(
        Kind(devices=1, times=_line(slope), memory_bytes=room / 0.75) for slope in slopes
    )
    network = Network(layers=1, state_bytes=2.0, sample_bytes=1.0, fixed_bytes=0.0)
    plan = plan_shares(devices, network, batch)
    best = _by_hand(slopes, batch, room)
    if best is None:
        assert plan is None
    else:
        assert plan is not None
        assert plan.layer_s == pytest.approx(best, rel=1e-9, abs=1e-12)
        assert plan.batch.sum() == batch


def _by_hand(slopes: list[float], batch: int, room: int) -> float | None:
    options = [(b, n) for b in range(batch + 1) for n in range(1, batch + 1) if b * n <= batch]
    best = None
    for chosen in product(options, repeat=len(slopes)):
        micro = [b for b, _ in chosen]
        if sum(b * n for b, n in chosen) != batch or max(micro) > room:
            continue
        if sum(micro) + 2.0 > room * len(slopes):
            continue
        times = [
            4 * n * b * slope + (n - 1) * ACCUMULATION_S if b else 0.0
            for (b, n), slope in zip(chosen, slopes, strict=True)
        ]
        best = max(times) if best is None else min(best, max(times))
    return best


def _line(slope_s: float) -> LayerTimes:
    """Backward takes twice as long as forward."""
    return LayerTimes(Line(slope_s, 0.0), Line(2 * slope_s, 0.0), np.empty(0), np.empty(0))


@given(room=st.lists(st.floats(0.1, 10), min_size=1, max_size=6), filled=st.floats(0.05, 1.0))
def test_states_are_stored_whole_and_nowhere_above_the_room(
    room: list[float], filled: float
) -> None:
    state = filled * sum(room)
    shares = state_shares(np.array(room), state)
    assert shares.sum() == pytest.approx(1.0)
    assert (shares * state <= np.array(room) * (1 + 1e-9)).all()
