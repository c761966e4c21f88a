"""The dated snapshot shipped with the project in ``data/catalog/``."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.catalog import tables
from advisor.catalog.provider import PROVIDERS
from advisor.core.errors import CatalogError
from advisor.core.paths import TABLES_DIR
from advisor.core.units import GB, GBIT_PER_S, GIB, TFLOPS

if TYPE_CHECKING:
    from pathlib import Path

FILES: Final = {
    "by-hand/accelerators.csv": tables.ACCELERATORS,
    "accelerators.csv": tables.ACCELERATORS,
    "share-alike/accelerators.csv": tables.ACCELERATORS,
    "by-hand/aliases.csv": tables.ALIASES,
    "by-hand/sources.csv": tables.SOURCES,
    "by-hand/billing.csv": tables.BILLING,
    "by-hand/writes.csv": tables.WRITES,
    "by-hand/regions.csv": tables.REGIONS,
    "by-hand/confidential.csv": tables.CONFIDENTIAL,
    "machines.csv": tables.MACHINES,
    "share-alike/machines.csv": tables.MACHINES,
    "share-alike/bandwidth.csv": tables.BANDWIDTH,
    "share-alike/startup.csv": tables.STARTUP,
    "offers.csv": tables.OFFERS,
    "egress.csv": tables.EGRESS,
    "interruption.csv": tables.INTERRUPTION,
    "network.csv": tables.NETWORK,
    "storage.csv": tables.STORAGE,
}
PRECISIONS: Final = ("fp32", "tf32", "fp16", "bf16", "fp8")
# Copies between cards that are faster than this share of the bus go over a bridge that joins
# pairs only; a ring over all cards still crosses the bus.
BUS_TOLERANCE: Final = 1.3


@PROVIDERS.register("snapshot")
class SnapshotProvider:
    """Reads ``data/catalog/``.

    Parameters
    ----------
    folder : pathlib.Path, optional
        Another folder with the same files.
    """

    name = "snapshot"

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = TABLES_DIR / "catalog" if folder is None else folder

    def stamp(self) -> str:
        """Stay the same: the tables come with the program."""
        return ""

    def names(self) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        """Return accelerators, their aliases and the machines as they are named, without prices."""
        wanted = [name for name in FILES if "accelerators" in name or "machines" in name]
        wanted += ["by-hand/aliases.csv", "by-hand/sources.csv"]
        read = {name: tables.read_table(self.folder / name, FILES[name]) for name in wanted}
        text = read["by-hand/sources.csv"].set_index("source_id")["text"]
        facts = _accelerators([f for n, f in read.items() if "accelerators" in n], text)
        machines = pd.concat([frame for name, frame in read.items() if "machines" in name])
        return facts, read["by-hand/aliases.csv"], machines[["cloud", "instance_type"]]

    def fetch(self) -> tables.CatalogTables:
        """Read and check every file, and convert to SI."""
        read = {name: tables.read_table(self.folder / name, table) for name, table in FILES.items()}
        sources = read["by-hand/sources.csv"].set_index("source_id")
        self._check_sources(read, sources)
        text = sources["text"]
        accelerators = _accelerators([f for n, f in read.items() if "accelerators" in n], text)
        machines = pd.concat([read["machines.csv"], read["share-alike/machines.csv"]])
        return tables.CatalogTables(
            accelerators=accelerators,
            machines=_machines(machines, accelerators, read["share-alike/bandwidth.csv"], text),
            offers=_offers(read["offers.csv"], text),
            hash=self._hash(),
            aliases=read["by-hand/aliases.csv"],
            sources=sources,
            egress=read["egress.csv"],
            storage=read["storage.csv"],
            billing=read["by-hand/billing.csv"],
            writes=read["by-hand/writes.csv"],
            regions=read["by-hand/regions.csv"],
            confidential=read["by-hand/confidential.csv"],
            interruption=_interruption(read["interruption.csv"]),
            network=_network(read["network.csv"]),
            startup=read["share-alike/startup.csv"],
        )

    def _check_sources(self, read: dict[str, pd.DataFrame], sources: pd.DataFrame) -> None:
        for name, frame in read.items():
            if "source_id" not in frame or name == "by-hand/sources.csv":
                continue
            used = {i for joined in frame["source_id"].unique() for i in joined.split("+") if i}
            unknown = sorted(used - set(sources.index))
            if unknown:
                raise CatalogError(
                    f"source “{unknown[0]}” is not described.",
                    where=str(self.folder / name),
                    todo=f"Add it to {self.folder / 'by-hand/sources.csv'}.",
                )

    def _hash(self) -> str:
        digest = hashlib.sha256()
        for name in sorted(FILES):
            # Line ends differ between check-outs, content does not.
            content = (self.folder / name).read_bytes().replace(b"\r\n", b"\n")
            digest.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
        return digest.hexdigest()[:16]


def _accelerators(parts: list[pd.DataFrame], text: pd.Series) -> pd.DataFrame:
    """Lay the parts over each other, earlier ones first, and convert to SI."""
    joined = pd.concat(parts)
    sources = joined[joined["source_id"] != ""].groupby("name")["source_id"].agg("+".join)
    frame = joined.replace("", None).groupby("name").first()
    result = pd.DataFrame(index=frame.index)
    for column in ("vendor", "architecture", "family"):
        result[column] = frame[column].fillna("")
    result["year"] = frame["year"]
    result["memory_bytes"] = frame["memory_gb"] * GB
    result["memory_bytes_per_s"] = frame["memory_gb_per_s"] * GB
    for precision in PRECISIONS:
        result[f"peak_{precision}_flops"] = frame[f"{precision}_tflops"] * TFLOPS
    result["achievable_bf16_flops"] = frame["achievable_bf16_tflops"] * TFLOPS
    result["link"] = frame["link"].fillna("none")
    result["link_bytes_per_s"] = frame["link_gb_per_s"] * GB
    result["pcie_gen"] = frame["pcie_gen"]
    result["tdp_w"] = frame["tdp_w"]
    result["source"] = _source(sources.reindex(frame.index).fillna(""), text)
    result["url"] = frame["url"].fillna("")
    return result


def _machines(
    frame: pd.DataFrame, accelerators: pd.DataFrame, measured: pd.DataFrame, text: pd.Series
) -> pd.DataFrame:
    """Convert to SI; add the memory of a device and what the bus was measured to carry."""
    frame = frame.merge(measured.drop(columns="source_id"), how="left")
    memory = accelerators["memory_bytes"].reindex(frame["accelerator"]).to_numpy()
    nominal = frame["link_gb_per_s"]
    direct = frame["d2d_gb_per_s"].where(frame["d2d_gb_per_s"] <= nominal * BUS_TOLERANCE)
    bus = direct.fillna(frame["h2d_gb_per_s"])
    use = frame["link"].str.startswith("PCIe") & bus.notna()
    result = frame[["cloud", "instance_type", "accelerator", "accelerators"]].copy()
    result["accelerator_memory_bytes"] = memory * np.minimum(frame["accelerators"], 1.0)
    result["vcpus"] = frame["vcpus"]
    result["memory_bytes"] = frame["memory_gib"] * GIB
    result["link"] = frame["link"]
    result["link_bytes_per_s"] = bus.where(use, nominal) * GB
    result["link_measured"] = use
    result["network_bytes_per_s"] = frame["network_gbit_per_s"] * GBIT_PER_S
    result["fabric"] = frame["fabric"]
    result["source"] = _source(frame["source_id"], text)
    return result


def _offers(frame: pd.DataFrame, text: pd.Series) -> pd.DataFrame:
    result = frame[["cloud", "instance_type", "region", "market"]].astype("category")
    result["usd_per_h"] = frame["usd_per_h"]
    result["derived"] = frame["derived"] == "1"
    result["as_of"] = frame["as_of"]
    result["source"] = _source(frame["source_id"], text)
    return result


def _interruption(frame: pd.DataFrame) -> pd.DataFrame:
    result = frame[["cloud", "region", "instance_type", "source_id"]].copy()
    result["low"] = frame["interruption_pct_low"] / 100
    result["high"] = frame["interruption_pct_high"] / 100
    return result


def _network(frame: pd.DataFrame) -> pd.DataFrame:
    result = frame[["src_cloud", "src_region", "dst_cloud", "dst_region"]].copy()
    result["rtt_s"] = frame["rtt_ms"] / 1e3
    result["bytes_per_s"] = frame["gbit_per_s"] * GBIT_PER_S
    return result


def _source(ids: pd.Series[str], text: pd.Series[str]) -> pd.Series:
    """Replace joined source ids by their texts; few are distinct, so few are built."""
    full = {joined: _joined(joined.split("+"), text) for joined in ids.unique()}
    return ids.map(full).astype("category")


def _joined(ids: list[str], text: pd.Series[str]) -> str:
    return "; ".join(dict.fromkeys(str(text[i]) for i in ids if i))
