"""What the name of a GPU kernel tells: matrix work, its precision, tensor cores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from advisor.domain.workload import Precision

# The first that fits counts: accumulators in float32 stand beside shorter inputs.
_PRECISIONS: Final[tuple[tuple[Precision, re.Pattern[str]], ...]] = (
    ("fp8", re.compile(r"fp8|e4m3|e5m2", re.IGNORECASE)),
    ("bf16", re.compile(r"bf16|BFloat16", re.IGNORECASE)),
    ("fp16", re.compile(r"fp16|f16f16|hmma|half|h884|h1688|h16816", re.IGNORECASE)),
    ("tf32", re.compile(r"tf32", re.IGNORECASE)),
    ("fp32", re.compile(r"sgemm|scudnn|_SB_|<float|f32f32")),
)
_MATRIX: Final = re.compile(
    r"gemm|cudnn|conv|Cijk|cutlass|dgrad|wgrad|grad_|flash|xmma", re.IGNORECASE
)
_TENSOR: Final = re.compile(r"16816|1688|884|tensorop|wgmma|hmma", re.IGNORECASE)


def is_matrix(name: str) -> bool:
    """Return whether a kernel multiplies matrices or convolves.

    >>> is_matrix("volta_sgemm_128x64_nn"), is_matrix("vectorized_elementwise_kernel<4, float>")
    (True, False)
    """
    return _MATRIX.search(name) is not None


def precision_of(name: str) -> Precision | None:
    """Return the precision of what a matrix kernel multiplies, None where its name says nothing.

    >>> precision_of("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32")
    'tf32'
    """
    return next((kind for kind, pattern in _PRECISIONS if pattern.search(name)), None)


def without_tensor_cores(name: str) -> bool:
    """Return whether a kernel is matrix work in single precision outside the tensor cores.

    >>> without_tensor_cores("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n")
    True
    >>> without_tensor_cores("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n")
    False
    """
    return is_matrix(name) and precision_of(name) == "fp32" and _TENSOR.search(name) is None
