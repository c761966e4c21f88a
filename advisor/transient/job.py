"""A job on spot machines: what the engines and policies work on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from advisor.core.errors import InvalidInputError
from advisor.core.units import HOUR_S, duration
from advisor.predictor.arrays import FloatArray
from advisor.predictor.collectives import smooth_min
from advisor.transient.lifetime import Lifetime, check_positive
from advisor.transient.overheads import Overheads
from advisor.transient.together import group_hazard

MOST_FACTOR: Final = 100.0


@dataclass(frozen=True, kw_only=True)
class SpotJob:
    """Training on `machines` spot machines.

    Parameters
    ----------
    work_s : float
        Training time on all machines, without interruption, start and checkpoints [s].
    machines : int
        Machines of the group.
    lifetime : Lifetime
        Of one machine.
    usd_per_h : float
        Price of one spot machine [USD/h].
    overheads : Overheads
        Times that are no training.
    on_demand_usd_per_h : float, optional
        Price of the same machine on demand; None: it cannot be had.
    deadline_s, budget_usd : float
        Limits; infinite where there is none.
    common_share : float
        Share of the hazard that takes all machines at once.
    hazard_log_sigma, work_log_sigma : float
        Standard deviation of the logarithm of the factor on the hazard, and on the work.
    server_cap : float
        Machines whose speed the parameter servers can take; infinite without such a limit.
    samples_factor : float
        Samples that asynchronous workers need for the accuracy of one worker, in those of it.
    running_s : float
        Age of machines that train already, the youngest counts [s]: the first group needs no
        start and no load, and has lived through so much of its hazard. 0: the job begins.
    """

    work_s: float
    machines: int
    lifetime: Lifetime
    usd_per_h: float
    overheads: Overheads = field(default_factory=Overheads)
    on_demand_usd_per_h: float | None = None
    deadline_s: float = math.inf
    budget_usd: float = math.inf
    common_share: float = 0.0
    hazard_log_sigma: float = 0.0
    work_log_sigma: float = 0.0
    server_cap: float = math.inf
    samples_factor: float = 1.0
    running_s: float = 0.0

    def __post_init__(self) -> None:
        check_positive("work_s", self.work_s)
        check_positive("machines", self.machines)
        check_positive("usd_per_h", self.usd_per_h)
        if self.on_demand_usd_per_h is not None:
            check_positive("on_demand_usd_per_h", self.on_demand_usd_per_h)
        check_positive("deadline_s", self.deadline_s, finite=False)
        check_positive("budget_usd", self.budget_usd, finite=False)
        check_positive("server_cap", self.server_cap, finite=False)
        group_hazard(self.machines, self.common_share)
        if not 1 <= self.samples_factor <= MOST_FACTOR:
            raise InvalidInputError(
                f"{self.samples_factor:g} is not between 1 and {MOST_FACTOR:g}.",
                where="samples to target",
                todo="Give 1 where accuracy does not suffer, 1.3 for 30 % more samples.",
            )
        self.lifetime.aged(self.running_s)
        for name in ("hazard_log_sigma", "work_log_sigma"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InvalidInputError("is not possible.", where=name, todo="Give 0 or more.")

    @property
    def group_times(self) -> float:
        """Hazard of the first revocation in the group, in hazards of one machine."""
        return float(group_hazard(self.machines, self.common_share))

    @property
    def first_lifetime(self) -> Lifetime:
        """Of the machines of the first group."""
        return self.lifetime.aged(self.running_s)

    @property
    def first_start_s(self) -> float:
        """Start of the first group [s]."""
        return 0.0 if self.running_s else self.overheads.start_s

    @property
    def first_load_s(self) -> float:
        """Load of the first group [s]."""
        return 0.0 if self.running_s else self.overheads.load_s

    @property
    def uninterrupted_s(self) -> float:
        """Start, load and work without a checkpoint and without a revocation [s]."""
        return self.overheads.start_s + self.overheads.load_s + self.work_s

    @property
    def usd_per_s(self) -> float:
        """Price of one machine [USD/s]."""
        return self.usd_per_h / HOUR_S

    def segments(self, interval_s: float) -> int:
        """Parts that checkpoints split the work into; each ends with a checkpoint.

        Raises
        ------
        InvalidInputError
            If the interval is no time, or longer than the job.
        """
        check_positive("checkpoint interval", interval_s)
        if interval_s > self.work_s * (1 + 1e-9):
            raise InvalidInputError(
                f"{duration(interval_s)} is longer than the job of {duration(self.work_s)}.",
                where="checkpoint interval",
                todo="Choose a shorter interval.",
            )
        return max(1, round(self.work_s / interval_s))

    def speed(self, working: FloatArray | int) -> FloatArray:
        """Speed with so many machines, in that of all of them."""
        count = np.maximum(np.asarray(working, float), 1e-9)
        if math.isinf(self.server_cap):
            return np.asarray(count / self.machines)
        return np.asarray(
            smooth_min(count, self.server_cap) / smooth_min(float(self.machines), self.server_cap)
        )
