"""One job on several kinds of accelerator in several zones: a plan of data × pipeline × tensor.

The space and the time model are those of Sailor (Strati et al., SOSP 2025, arXiv 2504.17096); the
search is our own: `search` runs a dynamic programme over stages and accelerators for a grid of
paces (`reach`), estimates every number of replicas, stages and zones from its tables (`coarse`),
cuts the layers of the best exactly (`cuts`), places them in zones (`place`), and goes on to better
neighbours (`refine`).
"""

from advisor.strategies.sailor.columns import Column, ColumnPlan
from advisor.strategies.sailor.exact import Found
from advisor.strategies.sailor.score import Score, memory_bytes, score
from advisor.strategies.sailor.search import search
from advisor.strategies.sailor.space import Goal, LayerCosts, Links, Pool, Space, port_of

__all__ = [
    "Column", "ColumnPlan", "Found", "Goal", "LayerCosts", "Links", "Pool", "Score", "Space",
    "memory_bytes", "port_of", "score", "search",
]  # fmt: skip
