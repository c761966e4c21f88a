from advisor.api import (
    Advice,
    AdvisorError,
    Engine,
    Forecast,
    InvalidInputError,
    NoFeasiblePlanError,
    Profile,
    Trace,
    TraceError,
    UnknownNameError,
    advise,
    predict,
    read_trace,
)

__version__: str
__all__ = [
    "Advice",
    "AdvisorError",
    "Engine",
    "Forecast",
    "InvalidInputError",
    "NoFeasiblePlanError",
    "Profile",
    "Trace",
    "TraceError",
    "UnknownNameError",
    "__version__",
    "advise",
    "predict",
    "read_trace",
]
