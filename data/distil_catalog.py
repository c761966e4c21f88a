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
from data.catalog.distil_hardware import (  # noqa: E402
    BY_HAND,
    CLOUD_NAMES,
    OUT,
    SHARE_ALIKE,
    accelerators,
    bandwidth,
    machines,
    of_machines,
    write,
)

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
INFERENCE_ONLY: Final = ("Inferentia1", "Inferentia2", "Qualcomm-AI100")
SPOT_OR_FLEX_ONLY: Final = ("a3-highgpu-1g", "a3-highgpu-2g", "a3-highgpu-4g")
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
        part["source_id"] = source.map(_source_id)
        parts.append(part)
    table = pd.concat(parts)
    dates = _dates()
    # A price put together from parts is as old as what moves in it: the savings of a derived
    # spot price, the undated device part of a host with attached devices.
    table["as_of"] = table["source_id"].str.split("+").str[-1].map(dates)
    table["derived"] = np.where(table["source_id"].str.endswith("spot-advisor"), "1", "")
    columns = [*key, "market", "usd_per_h", "derived", "as_of", "source_id"]
    write(table[columns], OUT / "offers.csv", [*key, "market"])
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
    table = of_machines(table, rentable)
    table["source_id"] = "spot-advisor"
    columns = ["cloud", "region", "instance_type", "interruption_pct_low"]
    columns += ["interruption_pct_high", "source_id"]
    write(table[columns], OUT / "interruption.csv", columns[:3])


def egress(table: pd.DataFrame, regions: set[tuple[str, str]]) -> None:
    """Price of traffic between regions and to the internet, first tier."""
    table = table[table["tier"].isna() | table["tier"].isin(["first tier", "0-1 TB/month"])].copy()
    table["source_id"] = table["source"].map(_source_id)
    table = table[_within(table, "src", regions)]
    table = table[(table["dst_cloud"] == "internet") | _within(table, "dst", regions)]
    key = ["src_cloud", "src_region", "dst_cloud", "dst_region"]
    write(table[[*key, "usd_per_gb", "source_id"]], OUT / "egress.csv", key)


def network(table: pd.DataFrame, regions: set[tuple[str, str]]) -> None:
    """Round trip and bandwidth between regions."""
    table = table[_within(table, "src", regions) & _within(table, "dst", regions)].copy()
    table["source_id"] = "skyplane-network"
    table = table.rename(columns={"bandwidth_gbps": "gbit_per_s"})
    key = ["src_cloud", "src_region", "dst_cloud", "dst_region"]
    write(table[[*key, "rtt_ms", "gbit_per_s", "source_id"]], OUT / "network.csv", key)


def storage(table: pd.DataFrame, regions: set[tuple[str, str]]) -> None:
    """Price of disks and buckets that a training job uses."""
    kept = pd.Series(zip(table["cloud"], table["region"], strict=True), index=table.index)
    table = table[kept.isin(regions) & table["storage_class"].isin(STORAGE_CLASSES)].copy()
    table["usd_per_gb_month"] = table["usd"]
    table["source_id"] = table["source"].map(_source_id)
    key = ["cloud", "region", "storage_class"]
    write(table[[*key, "usd_per_gb_month", "source_id"]], OUT / "storage.csv", key)


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
    write(result.reset_index(), SHARE_ALIKE / "startup.csv", key)


def _within(table: pd.DataFrame, end: str, regions: set[tuple[str, str]]) -> pd.Series:
    pairs = zip(table[f"{end}_cloud"], table[f"{end}_region"], strict=True)
    return pd.Series([pair in regions for pair in pairs], index=table.index)


def _source_id(text: str) -> str:
    found = [source_id for part, source_id in PRICE_SOURCES if part in text]
    if not found:
        raise SystemExit(f"no source_id for {text!r}: add it to PRICE_SOURCES and sources.csv")
    return found[0]


def _dates() -> dict[str, str]:
    table = pd.read_csv(BY_HAND / "sources.csv", dtype=str, keep_default_na=False)
    return dict(zip(table["source_id"], table["as_of"], strict=True))


if __name__ == "__main__":
    main()
