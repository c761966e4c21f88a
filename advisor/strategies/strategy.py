"""The contract of a strategy: a published way to run one job on machines that may differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Protocol

import pandas as pd

from advisor.core.registry import Registry
from advisor.domain import Workload
from advisor.domain.mixed import DeviceShare, Inventory, Label, MixParts

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from advisor.strategies.speeds import Speeds

PARTS: Final = tuple(MixParts.model_fields)
COLUMNS: Final = ("step_s", *PARTS, "log_half_width", "shares", "note")


class Strategy(Protocol):
    """A way to run a job. One file per strategy in `advisor.strategies.systems`.

    ``label`` says how far its numbers are backed: validated against measurements, the published
    plan replicated, bounded by published ratios, or reconstructed from the paper's description.
    """

    title: ClassVar[str]
    paper: ClassVar[str]
    label: ClassVar[Label]

    def applies(self, workload: Workload, inventory: Inventory) -> str:
        """Return the reason why the strategy cannot be used, or an empty text."""

    def plans(self, workload: Workload, inventory: Inventory) -> pd.DataFrame:
        """Return the candidates: one row each, columns as the strategy needs them."""

    def estimate(self, candidates: pd.DataFrame, speeds: Speeds) -> pd.DataFrame:
        """Return the candidates with `COLUMNS` added; a step that is NaN does not fit.

        Parameters
        ----------
        candidates : DataFrame
            Rows of `plans`.
        speeds : Speeds
            The job, the devices, and how fast they are predicted to be.
        """

    def parts(self, plan: Mapping[Hashable, object]) -> MixParts:
        """Return what the step of an estimated row is made of."""


STRATEGIES: Final[Registry[type[Strategy]]] = Registry("strategy", "advisor.strategies.systems")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a strategy makes of one candidate."""

    parts: MixParts
    log_half_width: float
    shares: tuple[DeviceShare, ...]
    note: str = ""


class Tabled:
    """What strategies share: their outcomes as columns, and parts read back from them."""

    def parts(self, plan: Mapping[Hashable, object]) -> MixParts:
        """See `Strategy`."""
        return MixParts.make(**{name: plan[name] for name in PARTS})


def with_outcomes(candidates: pd.DataFrame, outcomes: Iterable[Outcome | None]) -> pd.DataFrame:
    """Return the candidates with their outcomes as columns; None is what does not fit."""
    rows = [
        dict.fromkeys(COLUMNS)
        if one is None
        else {
            "step_s": one.parts.total_s,
            **one.parts.to_dict(),
            "log_half_width": one.log_half_width,
            "shares": one.shares,
            "note": one.note,
        }
        for one in outcomes
    ]
    columns = pd.DataFrame(rows, columns=list(COLUMNS), index=candidates.index)
    numbers = ["step_s", *PARTS, "log_half_width"]
    return pd.concat([candidates, columns.astype(dict.fromkeys(numbers, float))], axis=1)
