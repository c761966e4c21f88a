"""Guesses of the workload: each with its evidence, none against what a file says."""

from __future__ import annotations

from pathlib import Path

import pytest
from trace_examples import EXAMPLES, Json, dumped, event, kernel, profiler_events, profiler_trace

from advisor.traces import Trace, read
from advisor.traces.guesses import Guesses, guess


def operator(name: str, *shapes: list[int]) -> Json:
    return event(name, "cpu_op", 1e6 + 1, 5, **{"Input Dims": list(shapes)})


def message(group: str, size: int, elements: int = 1000, dtype: str = "BFloat16") -> Json:
    details = {"Process Group Description": group, "Group size": size, "dtype": dtype}
    return event(
        "record_param_comms", "cpu_op", 1e6 + 2, 5, **details, **{"In msg nelems": elements}
    )


def traced(*more: Json, **meta: object) -> Trace:
    return read(dumped(profiler_trace([*profiler_events(), *more], **meta)))


def test_attention_tells_batch_sequence_and_width() -> None:
    attention = "aten::_scaled_dot_product_flash_attention"
    heads = [4, 32, 2048, 128]
    found = guess(
        traced(operator(attention, heads, heads, heads), operator("aten::embedding", [32000, 4096]))
    )
    assert found.micro_batch is not None
    assert found.micro_batch.value == 4
    assert found.sequence_length is not None
    assert found.sequence_length.value == 2048
    assert found.model is not None
    assert found.model.value == "transformer, hidden 4096"
    assert any("32,000 rows" in text for text in found.model.evidence)


def test_the_largest_attention_counts_not_the_one_called_most() -> None:
    name = "aten::_scaled_dot_product_flash_attention"
    small, large = [2, 4, 64, 32], [4, 32, 2048, 128]
    found = guess(traced(*[operator(name, small)] * 5, operator(name, large)))
    assert found.sequence_length is not None
    assert found.sequence_length.value == 2048


def test_the_first_convolution_tells_the_batch() -> None:
    images = operator("aten::convolution", [32, 3, 224, 224], [64, 3, 7, 7], [])
    found = guess(traced(images))
    assert found.micro_batch is not None
    assert (found.micro_batch.value, found.micro_batch.confidence) == (32, "high")
    assert found.global_batch is not None
    assert found.global_batch.value == 64  # all-reduce on two GPUs
    assert found.global_batch.confidence == "low"


def test_kernels_tell_the_precision() -> None:
    fast = kernel(90, 1e6, 9000, "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n")
    found = guess(traced(fast))
    assert found.precision is not None
    assert found.precision.value == "bf16"
    nameless = guess(traced(fast, deviceProperties=[]))
    assert nameless.gpu_name is not None
    assert nameless.gpu_name.value == "H100"


def test_kernels_on_tf32_are_told_from_single_precision() -> None:
    for name, expected in (("tf32f32", "tf32"), ("f32f32", "fp32")):
        long = kernel(90, 1e6, 9000, f"sm80_xmma_gemm_f32f32_{name}_f32_tn_n")
        found = guess(traced(long))
        assert found.precision is not None
        assert found.precision.value == expected


def test_groups_of_processes_tell_the_layout() -> None:
    info = {"backend": "nccl", "rank": 0, "world_size": 16}
    found = guess(traced(message("mesh_tp", 4), message("default_pg", 16), distributedInfo=info))
    assert found.layout is not None
    assert found.layout.value == "tp=4;dp=4"
    assert any("“mesh_tp” has 4 processes" in text for text in found.layout.evidence)


def test_messages_tell_the_precision_where_kernels_do_not() -> None:
    found = guess(traced(message("default_pg", 2)))
    assert found.precision is not None
    assert (found.precision.value, found.precision.confidence) == ("bf16", "low")


def test_what_a_file_says_is_not_guessed() -> None:
    images = operator("aten::convolution", [32, 3, 224, 224], [64, 3, 7, 7], [])
    trace = traced(images, kernel(90, 1e6, 9000, "volta_sgemm_128x64_nn"))
    said = {"model": "Net", "micro_batch": 8.0, "precision": "bf16", "layout": "dp=2"}
    found = guess(trace.model_copy(update=said))
    assert (found.model, found.micro_batch, found.precision, found.layout) == (None,) * 4
    assert found.global_batch is not None
    assert found.global_batch.value == 16  # 8 that the file says, on 2 replicas
    known = trace.model_copy(update={"global_batch": 99.0})
    assert guess(known).global_batch is None


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_guess_has_its_evidence(name: str) -> None:
    found = guess(read(EXAMPLES[name]))
    for field in Guesses.model_fields:
        value = getattr(found, field)
        assert value is None or all(value.evidence)


def test_shapes_that_are_none_are_left_out() -> None:
    odd = [
        event("aten::mm", "cpu_op", 1e6, 5, **{"Input Dims": shapes})
        for shapes in ("text", {"a": 1}, [["x"]], [[True]], [[-1]], [[2**70]], None)
    ]
    assert traced(*odd, message("g", 0), message("g", 2, -5)).operators == (traced().operators)


@pytest.mark.reference
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("resnet50_v100_workers0.pt.trace.json.gz", {"model": "ResNet-50", "micro_batch": 32}),
        ("mi300x_resnet_8rank.json.gz", {"micro_batch": 10, "layout": "dp=8", "precision": "bf16"}),
        ("h100_bert_small_1step.json.gz", {"model": "transformer, hidden 512", "micro_batch": 1}),
        ("v100_ns_resolution.json.gz", {"precision": "fp32"}),
    ],
)
def test_real_traces(name: str, expected: dict[str, object], reference: Path) -> None:
    found = guess(read(reference / "data/traces/kineto" / name))
    for field, value in expected.items():
        assert getattr(found, field).value == value
