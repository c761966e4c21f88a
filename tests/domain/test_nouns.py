"""Nouns: frozen, strict, and the same after a trip through JSON."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from noun_examples import (
    BILL,
    BROKEN,
    CLUSTER,
    GROUP,
    LAYOUT,
    MEMORY,
    MODEL,
    NOUNS,
    OFFER,
    PARTS,
    PLAN,
    STEP,
    WORKLOAD,
)
from pydantic import ValidationError

import advisor.domain
from advisor.core.errors import InvalidInputError
from advisor.domain import Bill, Cluster, Estimate, Layout, MemoryUse, Plan, StepParts, Workload
from advisor.domain.base import Noun

if TYPE_CHECKING:
    from collections.abc import Iterator

amounts = st.floats(0, 1e15)
money = st.floats(0, 1e10)  # floats hold cents up to here
every_noun = pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: type(noun).__name__)


def fields_of(noun: Noun) -> dict[str, Any]:
    return {name: getattr(noun, name) for name in type(noun).model_fields}


def number_fields() -> Iterator[Any]:
    for noun in NOUNS:
        for name, value in noun:
            if isinstance(value, float) and not isinstance(value, bool):
                yield pytest.param(noun, name, id=f"{type(noun).__name__}.{name}")


def test_there_is_an_example_of_every_noun() -> None:
    exported = {getattr(advisor.domain, name) for name in advisor.domain.__all__}
    nouns = {kind for kind in exported if isinstance(kind, type) and issubclass(kind, Noun)}
    assert nouns <= {type(noun) for noun in NOUNS}


@every_noun
def test_json_brings_back_the_same_noun(noun: Noun) -> None:
    text = noun.to_json()
    assert type(noun).from_json(text) == noun
    assert type(noun).from_json(text).to_json() == text
    head = json.loads(text)
    assert head["kind"] == type(noun).__name__
    assert head["version"] == 1


@every_noun
def test_a_noun_cannot_be_changed(noun: Noun) -> None:
    name = next(iter(type(noun).model_fields))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(noun, name, getattr(noun, name))


@every_noun
def test_an_unknown_field_is_refused_and_named(noun: Noun) -> None:
    with pytest.raises(InvalidInputError) as caught:
        type(noun).make(**fields_of(noun), colour="red")
    assert caught.value.where == f"{type(noun).__name__}.colour"


@every_noun
def test_a_missing_field_is_named(noun: Noun) -> None:
    required = [name for name, field in type(noun).model_fields.items() if field.is_required()]
    given_fields = fields_of(noun)
    del given_fields[required[0]]
    with pytest.raises(InvalidInputError, match="required") as caught:
        type(noun).make(**given_fields)
    assert caught.value.where == f"{type(noun).__name__}.{required[0]}"


@every_noun
def test_another_kind_or_version_is_refused(noun: Noun) -> None:
    kind = type(noun)
    read = json.loads(noun.to_json())
    with pytest.raises(InvalidInputError, match="holds “Recipe”, not"):
        kind.from_json(json.dumps(read | {"kind": "Recipe"}))
    with pytest.raises(InvalidInputError, match="version 2 cannot be read"):
        kind.from_json(json.dumps(read | {"version": 2}))
    with pytest.raises(InvalidInputError, match="holds “None”"):
        kind.from_json(json.dumps({k: v for k, v in read.items() if k != "kind"}))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", "null", '"Plan"', "{'kind': 1}", "[" * 100_000, "9" * 10_000]
)
def test_text_that_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Plan.from_json(text)
    assert caught.value.where == "Plan"


@pytest.mark.parametrize("name", ["cls", "self", "fields", "model_config", "__class__"])
def test_fields_of_any_name_in_json_are_refused_in_words(name: str) -> None:
    text = json.dumps({"kind": "Layout", "version": 1, "data_parallel": 1, name: 1})
    with pytest.raises(InvalidInputError) as caught:
        Layout.from_json(text)
    assert caught.value.where == f"Layout.{name}"


@pytest.mark.parametrize(("noun", "name"), list(number_fields()))
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_none_are_refused_and_named(noun: Noun, name: str, value: float) -> None:
    with pytest.raises(InvalidInputError) as caught:
        type(noun).make(**(fields_of(noun) | {name: value}))
    assert caught.value.where == f"{type(noun).__name__}.{name}"


@pytest.mark.parametrize(
    ("noun", "name", "value"), [pytest.param(*b, id=f"{b[1]}={b[2]}") for b in BROKEN]
)
def test_a_value_out_of_range_is_refused_and_named(noun: Noun, name: str, value: object) -> None:
    with pytest.raises(InvalidInputError) as caught:
        type(noun).make(**(fields_of(noun) | {name: value}))
    assert caught.value.where.startswith(f"{type(noun).__name__}.{name}")
    if isinstance(value, str | int | float):
        assert repr(value) in caught.value.what


@pytest.mark.parametrize(
    ("noun", "changes", "said"),
    [
        (MODEL, {"active_params": 2e9}, "active parameters cannot exceed"),
        (MODEL, {"experts": 2, "experts_per_token": 4}, "experts per token cannot exceed"),
        (MODEL, {"attention_flops_per_sample": 3e12}, "attention FLOPs cannot exceed"),
        (WORKLOAD, {"trainable_params": 2e9}, "trainable parameters cannot exceed"),
        (WORKLOAD, {"trainable_params": 2e9, "tuning": "full"}, "trainable parameters cannot"),
        (STEP, {"low": 3.0}, "must lie inside its interval"),
        (STEP, {"high": 1.0}, "must lie inside its interval"),
        (PLAN, {"layout": Layout(data_parallel=32)}, "more devices than the cluster has"),
    ],
)
def test_invariants_are_kept_and_said(noun: Noun, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        type(noun).make(**(fields_of(noun) | changes))


@given(money, money, money, st.none() | money)
def test_the_parts_of_a_bill_sum_to_its_total(
    machines: float, startup: float, retries: float, storage: float | None
) -> None:
    bill = Bill(
        machines_usd=machines, startup_usd=startup, retries_usd=retries, storage_usd=storage
    )
    exact = machines + startup + retries + (storage or 0)
    assert bill.total_usd == pytest.approx(exact, abs=0.021)  # four lines, half a cent each
    parts = [Decimal(str(part)) for part in bill.parts_usd.values() if part is not None]
    assert Decimal(str(bill.total_usd)) == sum(parts)
    assert all(part == part.quantize(Decimal("0.01")) for part in parts)
    assert Bill.from_json(bill.to_json()) == bill


@given(*[amounts] * 4)
def test_the_parts_of_a_step_sum_to_it(
    compute: float, exposed: float, bubble: float, overhead: float
) -> None:
    parts = StepParts(
        compute_s=compute, exposed_communication_s=exposed, bubble_s=bubble, overhead_s=overhead,
        correction=1.0,
    )  # fmt: skip
    assert parts.total_s == pytest.approx(compute + exposed + bubble + overhead)
    assert StepParts.from_json(parts.to_json()) == parts


@given(*[amounts] * 5)
def test_the_parts_of_memory_sum_to_what_is_used(a: float, b: float, c: float, d: float,
                                                 e: float) -> None:  # fmt: skip
    memory = MemoryUse(
        parameters_bytes=a, gradients_bytes=b, optimizer_bytes=c, activations_bytes=d,
        workspace_bytes=e, capacity_bytes=1, out_of_memory_probability=0,
    )  # fmt: skip
    assert memory.used_bytes == pytest.approx(a + b + c + d + e)
    assert MemoryUse.from_json(memory.to_json()) == memory


@given(st.lists(amounts, min_size=3, max_size=3).map(sorted), st.floats(0.01, 0.99))
def test_an_estimate_in_order_is_fine_and_survives_json(bounds: list[float], level: float) -> None:
    low, value, high = bounds
    made = Estimate(value=value, low=low, high=high, unit="h", level=level, basis="measured")
    assert Estimate.from_json(made.to_json()) == made


@given(
    dp=st.integers(1, 64), tp=st.integers(1, 8), pp=st.integers(1, 8), zero=st.integers(0, 3),
    micro=st.integers(1, 64), accumulation=st.integers(1, 64),
    recompute=st.sampled_from(["none", "selective", "full"]),
)  # fmt: skip
def test_a_layout_counts_its_devices_and_says_what_it_is(
    dp: int, tp: int, pp: int, zero: Any, micro: int, accumulation: int, recompute: Any
) -> None:
    layout = Layout(
        data_parallel=dp, tensor_parallel=tp, pipeline_parallel=pp, zero_stage=zero,
        micro_batch=micro, accumulation=accumulation, recompute=recompute,
    )  # fmt: skip
    assert layout.devices == dp * tp * pp
    assert f"data parallel {dp}" in str(layout)
    assert (f"ZeRO-{zero}" in str(layout)) == (zero > 0)
    assert Layout.from_json(layout.to_json()) == layout


@given(samples=st.floats(1e-3, 1e18), batch=st.integers(1, 10**9))
def test_steps_are_whole_and_cover_all_samples(samples: float, batch: int) -> None:
    work = WORKLOAD.model_copy(update={"samples": samples, "global_batch": batch})
    assert work.steps >= 1
    assert work.steps * batch >= samples * (1 - 1e-12)
    assert (work.steps - 1) * batch < samples
    assert work.tokens == samples * 128


def test_low_rank_adapters_may_outnumber_the_model() -> None:
    fields = fields_of(WORKLOAD) | {"tuning": "lora", "trainable_params": 2e9}
    assert Workload.make(**fields).trainable_params == 2e9


def test_a_cluster_counts_machines_and_devices_of_all_groups() -> None:
    other = GROUP.model_copy(update={"count": 3, "accelerators_per_node": 4})
    cluster = Cluster(groups=(GROUP, other))
    assert cluster.machines == 5
    assert cluster.accelerators == 2 * 8 + 3 * 4
    assert str(CLUSTER) == "2 × p4d.24xlarge"


def test_the_id_of_a_plan_is_stable() -> None:
    assert PLAN.id == Plan.from_json(PLAN.to_json()).id
    assert PLAN.id == "9d3066f90e3f"  # links and saved plans hold ids: they must not change


def test_the_id_of_a_plan_names_machines_market_and_layout_only() -> None:
    same = PLAN.model_copy(update={"bill": BILL, "mfu": 0.1, "catalog_hash": "other"})
    assert same.id == PLAN.id
    for update in (
        {"layout": LAYOUT.model_copy(update={"micro_batch": 4})},
        {"offer": OFFER.model_copy(update={"market": "on_demand"})},
        {"cluster": Cluster(groups=(GROUP.model_copy(update={"count": 3}),))},
    ):
        assert PLAN.model_copy(update=update).id != PLAN.id
    dearer = {"offer": OFFER.model_copy(update={"usd_per_h": 99.0})}
    assert PLAN.model_copy(update=dearer).id == PLAN.id


def test_parts_of_the_examples_agree() -> None:
    assert PARTS.total_s == STEP.value
    assert MEMORY.used_bytes == 20e9
    assert BILL.total_usd == PLAN.cost_usd.value


def test_a_profile_is_known_by_what_was_measured() -> None:
    profile = next(noun for noun in NOUNS if type(noun).__name__ == "Profile")
    note = profile.provenance.model_copy(update={"notes": "again"})
    assert profile.model_copy(update={"provenance": note}).content_hash == profile.content_hash
    assert profile.model_copy(update={"step_time_s": 0.6}).content_hash != profile.content_hash
