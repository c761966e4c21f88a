"""The advisor: which cloud machines for a training job, how many, how long, at what price.

>>> import advisor
>>> "advise" in dir(advisor)
True
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"
# The types of what is fetched when it is asked for stand in __init__.pyi.
__all__ = [
    "Advice",
    "AdvisorError",
    "CatalogError",
    "Engine",
    "Forecast",
    "InvalidInputError",
    "NoFeasiblePlanError",
    "PlanDifference",
    "PredictionError",
    "Profile",
    "Proposal",
    "StoreError",
    "Trace",
    "TraceError",
    "UnknownNameError",
    "__version__",
    "advise",
    "diff",
    "export",
    "predict",
    "propose",
    "read_trace",
    "report",
    "running",
    "spot",
]


def __getattr__(name: str) -> object:
    """Fetch a public name from `advisor.api` when it is first used: importing stays fast."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module("advisor.api"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
