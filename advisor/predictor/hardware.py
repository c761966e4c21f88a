"""Accelerator facts as columns of the physics."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from advisor.catalog.names import spelled
from advisor.core.units import GBIT_PER_S
from advisor.domain import Precision
from advisor.predictor.arrays import FloatArray

if TYPE_CHECKING:
    from advisor.catalog import Catalog

PRECISION_ORDER: tuple[Precision, ...] = ("fp32", "tf32", "fp16", "bf16", "fp8")
# Attention kernels that never write the scores exist for tensor cores of this year and later
# (Dao, 2023, arXiv 2307.08691: Ampere and newer).
FUSED_ATTENTION_SINCE = 2020
# A stack is as new as the hardware it runs on, and not older than this program's sources.
NEWEST_STACK_YEAR = 2025
# Practical bandwidth of a x16 slot per direction, generations 3 and 4 (gpu-to-gpu copies).
PCIE_BYTES_PER_S = {False: 12e9, True: 24e9}
PCIE_4_SINCE = 2020
# Network of a machine by the year of its accelerator, where none is named: 10 Gbit/s Ethernet
# for Kepler, one to four EDR/HDR NICs for Volta and Ampere, one NIC per device since.
NETWORK_GBIT_PER_S = {2014: 10.0, 2016: 25.0, 2017: 100.0, 2020: 800.0, 2022: 3200.0}


def usual_link(facts: pd.DataFrame) -> FloatArray:
    """Link between the devices of a machine, PCIe where the accelerator has none [bytes/s]."""
    modern = facts["year"].to_numpy(float) >= PCIE_4_SINCE
    pcie = np.where(modern, PCIE_BYTES_PER_S[True], PCIE_BYTES_PER_S[False])
    link = facts["link_bytes_per_s"].to_numpy(float)
    return np.where(np.isnan(link), pcie, link)


def usual_network(year: FloatArray) -> FloatArray:
    """Network of a machine with accelerators of that year [bytes/s]; 2017 where unknown."""
    years = np.array(sorted(NETWORK_GBIT_PER_S))
    gbit = np.array([NETWORK_GBIT_PER_S[y] for y in years])
    known = np.where(np.isnan(year), PCIE_4_SINCE - 3, year)
    position = np.searchsorted(years, known, side="right") - 1
    return np.asarray(gbit[np.clip(position, 0, None)] * GBIT_PER_S)


def facts_of(catalog: Catalog, labels: pd.Series) -> pd.DataFrame:
    """Return the catalog's accelerator row of every label, NaN where the label is unknown.

    Returns
    -------
    DataFrame
        Columns of ``catalog.accelerators``, index of `labels`.
    """
    names = labels.map({text: catalog.spellings.get(spelled(text)) for text in labels.unique()})
    facts = catalog.accelerators.reindex(names)
    facts.index = labels.index
    return facts


def facts_hash(catalog: Catalog) -> str:
    """Return a hash of the accelerator facts that a trained predictor depends on."""
    numbers = catalog.accelerators.select_dtypes("number").sort_index()
    rows = pd.util.hash_pandas_object(numbers).to_numpy()
    return hashlib.sha256(rows.tobytes()).hexdigest()


def best_peak(facts: pd.DataFrame, wanted: np.ndarray | Precision) -> FloatArray:
    """Dense peak at the wanted precision, or at the nearest one the device has [FLOP/s].

    A device without FP8 runs it as BF16, one without BF16 as FP16, and so on down to FP32; one
    that has none below, as TPUs, runs it in the next above.
    """
    known = [facts[f"peak_{precision}_flops"].to_numpy(float) for precision in PRECISION_ORDER]
    peaks = np.array(known)
    for lower in range(len(peaks) - 1):
        peaks[lower + 1] = np.where(np.isnan(peaks[lower + 1]), peaks[lower], peaks[lower + 1])
    for lower in reversed(range(len(peaks) - 1)):
        peaks[lower] = np.where(np.isnan(peaks[lower]), peaks[lower + 1], peaks[lower])
    asked = np.broadcast_to(wanted, peaks.shape[1:])
    return np.select([asked == precision for precision in PRECISION_ORDER], list(peaks))


def run_precision(facts: pd.DataFrame, accelerator: str, wanted: Precision) -> Precision:
    """Return the precision whose peak `best_peak` takes on an accelerator, a row of `facts`.

    Raises
    ------
    ValueError
        If the accelerator has no published peak at all.
    """
    place = PRECISION_ORDER.index(wanted)
    for name in (*PRECISION_ORDER[place::-1], *PRECISION_ORDER[place + 1 :]):
        if not np.isnan(facts[f"peak_{name}_flops"].loc[accelerator]):
            return name
    raise ValueError(f"{accelerator} has no published peak")
