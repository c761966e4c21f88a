"""The table that goes into the physics: one column per quantity, one row per candidate or run."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from advisor.predictor.arrays import FloatArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """Columns of workload, hardware and layout, all of one length.

    FLOPs count a multiply-add as two. ``backward_ratio`` is the backward pass's FLOPs over the
    forward pass's (2; 1 where the weights are frozen), ``recompute_share`` the share of the
    forward pass that is run twice (0 none … 1 full).
    """

    # workload
    params: FloatArray
    active_params: FloatArray
    trainable_params: FloatArray
    embedding_params: FloatArray
    layers: FloatArray
    hidden: FloatArray
    tokens_per_sample: FloatArray
    vocab: FloatArray
    forward_flops_per_sample: FloatArray
    attention_flops_per_sample: FloatArray
    activation_elements_per_sample: FloatArray
    attention_elements_per_sample: FloatArray
    boundary_elements_per_sample: FloatArray
    global_batch: FloatArray
    bytes_per_element: FloatArray
    base_bytes_per_param: FloatArray
    optimizer_bytes_per_param: FloatArray
    backward_ratio: FloatArray
    is_transformer: FloatArray
    is_causal: FloatArray
    # hardware
    peak_flops: FloatArray
    memory_bytes: FloatArray
    memory_bytes_per_s: FloatArray
    link_bytes_per_s: FloatArray
    network_bytes_per_s: FloatArray
    devices_per_node: FloatArray
    hardware_year: FloatArray
    fused_attention: FloatArray
    # layout
    data_parallel: FloatArray
    tensor_parallel: FloatArray
    pipeline_parallel: FloatArray
    zero_stage: FloatArray
    micro_batch: FloatArray
    accumulation: FloatArray
    recompute_share: FloatArray
    parameter_servers: FloatArray
    # what the physics does not see and the correction may use
    family_code: FloatArray
    precision_code: FloatArray
    stack_code: FloatArray
    framework_code: FloatArray
    year: FloatArray

    def __len__(self) -> int:
        return len(self.params)

    @property
    def devices(self) -> FloatArray:
        """Devices of each row."""
        return self.data_parallel * self.tensor_parallel * self.pipeline_parallel

    @property
    def nodes(self) -> FloatArray:
        """Machines of each row."""
        return np.maximum(1.0, np.ceil(self.devices / self.devices_per_node))

    @classmethod
    def from_columns(cls, **columns: FloatArray | float) -> Self:
        """Build from arrays and scalars; scalars are repeated to the common length."""
        names = [f.name for f in fields(cls)]
        arrays = np.broadcast_arrays(*(np.asarray(columns[name], dtype=float) for name in names))
        return cls(**dict(zip(names, (np.atleast_1d(a) for a in arrays), strict=True)))

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Self:
        """Build from a DataFrame with these column names."""
        return cls(**{f.name: frame[f.name].to_numpy(float) for f in fields(cls)})

    @classmethod
    def concatenate(cls, tables: Sequence[Jobs]) -> Self:
        """Stack tables on top of each other."""
        return cls(**{f.name: np.concatenate([getattr(t, f.name) for t in tables])
                      for f in fields(cls)})  # fmt: skip

    def take(self, rows: np.ndarray) -> Self:
        """Return the rows at integer positions or under a mask."""
        return replace(self, **{f.name: getattr(self, f.name)[rows] for f in fields(self)})
