"""Jobs for the tests of the predictor: one that everybody can check by hand, and any other."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from advisor.predictor.compute import ComputeCosts
from advisor.predictor.jobs import Jobs

LAYERS, WIDTH, TOKENS, VOCAB = 32.0, 4096.0, 4096.0, 32_000.0
PARAMS = 12 * LAYERS * WIDTH**2 + VOCAB * WIDTH
COSTS = ComputeCosts(arithmetic=1.7, narrowness=1.0, attention=3.3, traffic=1.1, layer_pass_s=1e-4)
# A decoder like Llama-2-7B on one machine of eight A100, one sample per device, no sharding.
BASE: dict[str, Any] = {
    "params": PARAMS, "active_params": PARAMS, "trainable_params": PARAMS,
    "embedding_params": VOCAB * WIDTH, "layers": LAYERS, "hidden": WIDTH,
    "tokens_per_sample": TOKENS, "vocab": VOCAB,
    "forward_flops_per_sample": 2 * PARAMS * TOKENS + 4 * LAYERS * WIDTH * TOKENS**2,
    "attention_flops_per_sample": 4 * LAYERS * WIDTH * TOKENS**2,
    "activation_elements_per_sample": 17 * LAYERS * TOKENS * WIDTH,
    "attention_elements_per_sample": 2.5 * LAYERS * 32 * TOKENS**2,
    "boundary_elements_per_sample": TOKENS * WIDTH,
    "global_batch": 8.0, "bytes_per_element": 2.0, "base_bytes_per_param": 2.0,
    "optimizer_bytes_per_param": 12.0, "backward_ratio": 2.0, "is_transformer": 1.0,
    "is_causal": 1.0, "peak_flops": 312e12, "memory_bytes": 80e9, "memory_bytes_per_s": 2.04e12,
    "link_bytes_per_s": 300e9, "network_bytes_per_s": 100e9, "devices_per_node": 8.0,
    "hardware_year": 2020.0, "fused_attention": 1.0, "data_parallel": 8.0,
    "tensor_parallel": 1.0, "pipeline_parallel": 1.0, "zero_stage": 0.0, "micro_batch": 1.0,
    "accumulation": 1.0, "recompute_share": 0.0, "parameter_servers": 0.0, "family_code": 0.0,
    "precision_code": 3.0, "stack_code": 0.0,
    "framework_code": 0.0, "year": 2023.0,
}  # fmt: skip


def make(**changes: Any) -> Jobs:
    """Return `BASE` with some columns replaced, by numbers or by arrays of one length."""
    return Jobs.from_columns(**(BASE | changes))


def powers(most: int) -> st.SearchStrategy[float]:
    return st.integers(0, most).map(lambda exponent: float(2**exponent))


@st.composite
def any_job(draw: st.DrawFn, **fixed: Any) -> dict[str, Any]:
    """Columns of a transformer of any size, on any machine, in any layout."""
    layers = float(draw(st.integers(8, 128)))
    width = 128.0 * draw(st.integers(2, 160))
    tokens, vocab = 128 * draw(powers(8)), 1000.0 * draw(st.integers(1, 250))
    params = 12 * layers * width**2 + vocab * width
    attention = 4 * layers * width * tokens**2
    micro, accumulation, data = draw(powers(6)), draw(powers(8)), draw(powers(10))
    columns = BASE | {
        "params": params, "active_params": params, "trainable_params": params,
        "embedding_params": vocab * width, "layers": layers, "hidden": width,
        "tokens_per_sample": tokens, "vocab": vocab,
        "forward_flops_per_sample": 2 * params * tokens + attention,
        "attention_flops_per_sample": attention,
        "activation_elements_per_sample": 17 * layers * tokens * width,
        "attention_elements_per_sample": 2.5 * layers * (width / 128) * tokens**2,
        "boundary_elements_per_sample": tokens * width,
        "global_batch": micro * accumulation * data,
        "peak_flops": draw(st.floats(4e12, 5e15)), "memory_bytes": draw(st.floats(8e9, 3e11)),
        "memory_bytes_per_s": draw(st.floats(2e11, 1e13)),
        "link_bytes_per_s": draw(st.floats(5e9, 1e12)),
        "network_bytes_per_s": draw(st.floats(1e8, 1e12)), "devices_per_node": draw(powers(4)),
        "fused_attention": float(draw(st.booleans())), "data_parallel": data,
        "tensor_parallel": draw(powers(4)), "pipeline_parallel": draw(powers(5)),
        "zero_stage": float(draw(st.integers(0, 3))), "micro_batch": micro,
        "accumulation": accumulation, "recompute_share": draw(st.sampled_from([0.0, 0.5, 1.0])),
        "parameter_servers": draw(st.sampled_from([0.0, 0.0, 0.0, 1.0, 4.0])),
    }  # fmt: skip
    return columns | fixed


@st.composite
def any_costs(draw: st.DrawFn) -> ComputeCosts:
    """Constants anywhere within the bounds of the fit."""
    return ComputeCosts(
        arithmetic=draw(st.floats(1.05, 4.0)),
        narrowness=draw(st.floats(0.05, 8.0)),
        attention=draw(st.floats(1.5, 12.0)),
        traffic=draw(st.floats(0.3, 8.0)),
        layer_pass_s=draw(st.floats(2e-6, 3e-3)),
    )


def number(array: np.ndarray) -> float:
    """Return the only element."""
    return float(np.asarray(array).item())
