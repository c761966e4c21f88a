"""Model architectures: parameters, FLOPs and activations computed from their dimensions.

Every number of an architecture follows from its dimensions; the published parameter count stands
beside it as a check. ``resolve`` understands whatever a user gives, ``build_workload`` makes a
training job of it::

    workload = build_workload(resolve("llama-2-7b"), tokens=10e9)
"""

from advisor.zoo.base import Architecture, Dataset
from advisor.zoo.hf.config import from_hf_config
from advisor.zoo.lookup import get, names
from advisor.zoo.resolve import named, resolve
from advisor.zoo.sizes import from_size
from advisor.zoo.workload import build_workload

__all__ = [
    "Architecture",
    "Dataset",
    "build_workload",
    "from_hf_config",
    "from_size",
    "get",
    "named",
    "names",
    "resolve",
]
