"""Names of software frameworks as numbers."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.predictor.arrays import FloatArray

if TYPE_CHECKING:
    import pandas as pd

# The code of a framework that is not named: nothing is known of it.
UNNAMED: Final = 0.0
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+")


def framework_codes(names: pd.Series) -> FloatArray:
    """Return a number for every framework's name, the same in every process; `UNNAMED` for "".

    Examples
    --------
    >>> import pandas as pd
    >>> first, second, none = framework_codes(pd.Series(["NeMo/Megatron", "nemo megatron", ""]))
    >>> bool(first == second), float(none)
    (True, 0.0)
    """
    spelled = {name: _NOT_IN_NAMES.sub(" ", name.lower()).strip() for name in names.unique()}
    codes = {name: float(zlib.crc32(text.encode())) for name, text in spelled.items()}
    return np.asarray(names.map(codes), dtype=float)


# The one name of benchmark submissions, which name the container that they came in instead.
TUNED: Final = float(zlib.crc32(b"tuned"))
