"""The question of mixed devices: an inventory in words, and the job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from advisor.advice.inventory_text import parse_inventory
from advisor.advice.mixed import mixed_advice
from advisor.core.errors import PredictionError
from advisor.core.units import GBIT_PER_S
from advisor.search.hardware import machine_columns, predictable
from advisor.strategies import predicted_speeds

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.domain import Workload
    from advisor.domain.mixed import Inventory, MixedAdvice
    from advisor.predictor import Predictor

# Where no network is named: the usual card of a machine that was not bought as a cluster.
ASSUMED_GBIT_PER_S: Final = 10.0


def ask_mixed(
    text: str,
    workload: Workload,
    catalog: Catalog,
    predictor: Predictor,
    *,
    network_gbit_per_s: float = ASSUMED_GBIT_PER_S,
) -> MixedAdvice:
    """Return which mix of the machines to use, how, and what each kind is worth.

    Parameters
    ----------
    text : str
        What is there, as `parse_inventory` reads it: ``2 x L4, A6000, P40``.
    network_gbit_per_s : float
        Network of a machine where the catalog knows none [Gbit/s].

    Raises
    ------
    InvalidInputError
        If a kind is unknown; all unknown ones are named.
    PredictionError
        If an accelerator has no published peak.
    NoFeasiblePlanError
        If the job fits on no mix.
    """
    inventory = parse_inventory(text, catalog, network_gbit_per_s * GBIT_PER_S)
    hardware = _hardware(inventory, workload, catalog)
    speeds = predicted_speeds(workload, inventory, hardware, predictor)
    return mixed_advice(
        speeds,
        (
            "accelerators of one entry sit in one machine",
            f"machines are joined by {network_gbit_per_s:g} Gbit/s where the catalog knows none",
            *workload.assumptions,
        ),
    )


def _hardware(inventory: Inventory, workload: Workload, catalog: Catalog) -> pd.DataFrame:
    """Return the hardware columns of one machine of every group."""
    groups = inventory.groups
    machines = pd.DataFrame({
        "accelerator": [group.accelerator for group in groups],
        "accelerators": [float(group.accelerators_per_machine) for group in groups],
        "accelerator_memory_bytes": [group.memory_bytes for group in groups],
        "link_bytes_per_s": [group.link_bytes_per_s for group in groups],
        "network_bytes_per_s": [group.network_bytes_per_s for group in groups],
    })  # fmt: skip
    columns = machine_columns(catalog, machines, workload.precision)
    known = predictable(columns)
    missing = [group.name for group, one in zip(groups, known, strict=True) if not one]
    if missing:
        raise PredictionError(
            f"no peak of {', '.join(missing)} is published at {workload.precision} or below.",
            where="inventory",
            todo="Leave it out, or take another precision.",
        )
    return columns
