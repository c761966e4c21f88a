"""A plan by columns: every data-parallel replica is a column of tensor groups, one per stage."""

from __future__ import annotations

import math
from dataclasses import dataclass

Member = tuple[int, int]  # (position of the pool, tensor degree)


@dataclass(frozen=True, slots=True)
class Column:
    """So many equal replicas of the pipeline; ``members`` has a tensor group per stage."""

    members: tuple[Member, ...]
    replicas: int


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """Columns in the order of the rings that exchange gradients between them.

    Stage ``i`` has the layers ``cuts[i]`` to ``cuts[i + 1] - 1``.
    """

    micro_batch: int
    cuts: tuple[int, ...]
    columns: tuple[Column, ...]

    @property
    def stages(self) -> int:
        """Pipeline stages."""
        return len(self.cuts) - 1

    @property
    def data(self) -> int:
        """Data-parallel replicas."""
        return sum(column.replicas for column in self.columns)

    def micro_batches(self, global_batch: int) -> int:
        """Return the micro-batches of a replica per step; the last ones may be filled up."""
        return math.ceil(global_batch / (self.micro_batch * self.data))

    def devices(self) -> dict[int, int]:
        """Return the accelerators used, by position of the pool."""
        used: dict[int, int] = {}
        for column in self.columns:
            for pool, tensor in column.members:
                used[pool] = used.get(pool, 0) + tensor * column.replicas
        return used

    def stage_members(self, stage: int) -> list[Member]:
        """Return the tensor group of every replica of a stage, in order."""
        return [column.members[stage] for column in self.columns for _ in range(column.replicas)]
