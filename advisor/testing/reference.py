"""The directory of public reference data that some tests and benchmarks read."""

from __future__ import annotations

import os
from pathlib import Path

from advisor.core.paths import TABLES_DIR


def reference_dir() -> Path | None:
    """Return the reference directory (``ADVISOR_REFERENCE_DIR``), or None where it is absent."""
    default = TABLES_DIR.parent.parent / "shared"
    path = Path(os.environ.get("ADVISOR_REFERENCE_DIR", default))
    return path if path.is_dir() else None
