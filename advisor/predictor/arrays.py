"""Columns: what a vectorised function takes and gives."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
Floats: TypeAlias = FloatArray | float
