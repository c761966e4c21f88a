"""Zorse's planner: the published plan, and what any plan must satisfy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from layer_profiles import MEMORY_BYTES, TABLE, measured

from advisor.core.units import GIB
from advisor.strategies.zorse_planner import Group, Stack, Staged, plan_stages, staged

if TYPE_CHECKING:
    from pathlib import Path

LLAMA = Stack(layers=22, params_per_layer=51_384_320, boundary_bytes=512 * 2048 * 2)
MIX = ("L4", "L4", "RTX-A6000", "P40")


def group(names: tuple[str, ...], **given: float) -> Group:
    times = measured("llama-1b")
    return Group(
        times=tuple(times[name] for name in names),
        memory_bytes=np.array([MEMORY_BYTES[name] for name in names]),
        bytes_per_s=11.08 * GIB,
        **given,
    )


def best(*groups: Group, stack: Stack = LLAMA, batch: int = 128) -> Staged:
    plan = plan_stages(groups, stack, batch, (1, 2, 4, 8))
    assert plan is not None
    return plan


def test_the_published_plan_of_llama_1b_is_found_exactly() -> None:
    plan = best(group(MIX))
    assert plan.micro_batch == 2
    assert plan.micro_batches[0].tolist() == [18, 17, 28, 1]
    assert plan.step_s * 1e3 == pytest.approx(7721.4, abs=0.1)


@pytest.mark.parametrize(("micro_batch", "published_ms"), [(1, 8092.7), (4, 9174.4)])
def test_other_micro_batches_take_as_long_as_the_planner_says(
    micro_batch: int, published_ms: float
) -> None:
    plan = staged((group(MIX),), LLAMA, micro_batch, 128 // micro_batch, 1)
    assert plan.step_s * 1e3 == pytest.approx(published_ms, abs=0.5)


def test_without_the_slow_device_the_published_mix_is_faster() -> None:
    assert best(group(MIX[:3])).step_s < 0.75 * best(group(MIX)).step_s


def test_the_fixture_is_what_the_reference_holds(reference: Path) -> None:
    published = pd.read_csv(reference / "data/papers/zorse_layer_profiles.csv")
    own = pd.read_csv(TABLE)
    like = published[
        (published["model"] == "deepspeedllama_tiny")
        & (published["precision"] == "float16")
        & published["gpu"].isin(["l4", "a6000", "p40"])
        & (published["seq_len"] == 512)
    ]
    found = own[own["profile"] == "llama-1b"]
    assert sorted(found["backward_ms"]) == sorted(like["bwd_ms"])
    assert sorted(found["forward_slope_ms"]) == sorted(like["fit_fwd_slope"])


def test_the_faster_group_gets_more_layers_and_all_are_placed() -> None:
    plan = best(group(("RTX-A6000",), next_bytes_per_s=1e9), group(("L4",)))
    assert plan.layers.sum() == LLAMA.layers
    assert plan.layers[0] > plan.layers[1] >= 1


def test_a_slow_link_between_groups_costs_time() -> None:
    fast, slow = (
        best(group(("RTX-A6000",), next_bytes_per_s=speed), group(("L4",)))
        for speed in (10e9, 0.05e9)
    )
    assert slow.step_s > fast.step_s
    assert slow.communication_s > fast.communication_s


def test_what_fits_on_no_group_has_no_plan() -> None:
    huge = Stack(layers=22, params_per_layer=5e9, boundary_bytes=1.0)
    assert plan_stages((group(MIX),), huge, 128, (1, 2)) is None


def test_ministages_are_used_where_a_group_cannot_hold_all_layers_at_once() -> None:
    wide = Stack(layers=22, params_per_layer=4.6e8, boundary_bytes=1e6)
    names = ("RTX-A6000",) * 4
    at_once = staged((group(names),), wide, 2, 64, 1)
    assert at_once.memory_bytes.max() > MEMORY_BYTES["RTX-A6000"]
    plan = plan_stages((group(names),), wide, 128, (2,))
    assert plan is not None
    assert plan.interleave > 1
    assert plan.memory_bytes.max() <= MEMORY_BYTES["RTX-A6000"]
