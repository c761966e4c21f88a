"""Distil the tables of ``data/transient/`` from the reference data.

Run by hand when the reference changes: ``python data/distil_transient.py``. ``data/transient/``
has a README that tells columns, units and known flaws.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from advisor.testing.reference import reference_dir  # noqa: E402 - the project is a folder up

OUT: Final = ROOT / "data" / "transient"
# Revocations of these machines were watched on Google's preemptible machines, capped at 24 h.
MARKET: Final = "preemptible"
YEAR: Final = 2019
SERVERS: Final = {  # cluster names of the files → columns; empty: parameter servers not counted
    "K80": "k80",
    "P100": "p100",
    "V100": "v100",
}


def main() -> int:
    """Write every table."""
    reference = reference_dir()
    if reference is None:
        print("no reference data: set ADVISOR_REFERENCE_DIR to its directory", file=sys.stderr)
        return 2
    source = reference / "data" / "cm-dare"
    OUT.mkdir(exist_ok=True)
    for name, table in (
        ("revocations", revocations(source)),
        ("launches", launches(source)),
        ("revocation_hours", revocation_hours(source)),
        ("startup", startup(source)),
        ("replacement", replacement(source)),
        ("recomputation", recomputation(source)),
        ("checkpoints", checkpoints(source)),
        ("speeds", speeds(source)),
        ("scaling", scaling(source)),
        ("runs", runs(source)),
        ("progress", progress(source)),
        ("end_to_end", end_to_end(source)),
    ):
        table.to_csv(OUT / f"{name}.csv", index=False, lineterminator="\n")
        print(f"{name}: {len(table)} rows")
    return 0


def revocations(source: Path) -> pd.DataFrame:
    """Return revocations per hour of age; the cumulative fractions are turned into counts."""
    table = pd.read_csv(source / "lifetime_cdf.csv")
    total = np.rint(table["cdf_revoked"] * table["servers_inferred"]).astype(int)
    by_group = total.groupby([table["gpu"], table["region"]])
    revoked = by_group.diff().fillna(total).astype(int)
    return pd.DataFrame(
        {
            "gpu": table["gpu"],
            "cloud": "gcp",
            "region": table["region"],
            "market": MARKET,
            "year": YEAR,
            "machines": table["servers_inferred"],
            "age_from_h": table["hours_since_start"] - 1,
            "age_to_h": table["hours_since_start"],
            "revoked": revoked,
            "source": table["source"],
        }
    )


def launches(source: Path) -> pd.DataFrame:
    """Return single machines with the batch they were launched in."""
    table = pd.read_csv(source / "lifetimes_feb2019.csv")
    start = pd.to_datetime(table["start"])
    # Machines of one zone started within the hour were asked for together.
    nearest_hour = (start + pd.Timedelta(minutes=30)).dt.floor("h")
    batch = table["zone"] + " " + nearest_hour.dt.strftime("%Y-%m-%d %H")
    return pd.DataFrame(
        {
            "gpu": table["gpu"],
            "cloud": "gcp",
            "region": table["region"],
            "market": MARKET,
            "year": YEAR,
            "batch": batch,
            "lifetime_h": table["lifetime_h"],
            "revoked": table["revoked_before_24h"].astype(int),
            "source": table["source"],
        }
    )


def revocation_hours(source: Path) -> pd.DataFrame:
    """Return revocations by hour of the day; the time zone is not stated."""
    table = pd.read_csv(source / "revocations_by_hour.csv")
    table = table[table["axis"] == "hour_of_day"]
    return table[["gpu", "hour", "revocations", "source"]]


def startup(source: Path) -> pd.DataFrame:
    """Return mean and spread of the parts of a start, per GPU, region and market."""
    table = pd.read_csv(source / "startup_times.csv")
    keys = ["gpu", "region", "purchase"]
    grouped = table.groupby(keys, sort=True)
    parts = ["provisioning_s", "staging_s", "booting_s", "total_s"]
    mean = grouped[parts].mean().round(3)
    mean["total_sd_s"] = grouped["total_s"].std().round(3)
    mean.insert(0, "n", grouped.size())
    mean["source"] = grouped["source"].first()
    result = mean.reset_index().rename(columns={"purchase": "market"})
    result["market"] = result["market"].replace("on-demand", "on_demand")
    return result


def replacement(source: Path) -> pd.DataFrame:
    """Return seconds until a replaced worker trains again, per network and kind of start."""
    table = pd.read_csv(source / "worker_replacement_cold_warm.csv")
    grouped = table.groupby(["model", "start"], sort=True)
    result = grouped["seconds"].agg(n="size", mean_s="mean", sd_s="std").round(3)
    result["source"] = grouped["source"].first()
    facts = pd.read_csv(source / "speed_by_model_gpu.csv").drop_duplicates("model")
    result = result.reset_index()
    for column in ("num_tensors", "params"):
        result.insert(1, column, result["model"].map(facts.set_index("model")[column]))
    return result


def recomputation(source: Path) -> pd.DataFrame:
    """Return training times when the chief comes back so many steps after a checkpoint."""
    return pd.read_csv(source / "recomputation_overhead.csv")


def checkpoints(source: Path) -> pd.DataFrame:
    """Return checkpoint durations with the sizes of their files."""
    table = pd.read_csv(source / "checkpoint_times.csv")
    keep = ["model", "local_write_s", "upload_s", "total_duration_s", "checkpoint_mb", "index_kb"]
    return table[[*keep, "source"]]


def speeds(source: Path) -> pd.DataFrame:
    """Return the steps of one worker alone, 13 consecutive windows of 20 networks on two GPUs."""
    table = pd.read_csv(source / "speed_windows.csv")
    return table[["model", "gpu", "model_gflops", "window", "step_time_s", "source"]]


def scaling(source: Path) -> pd.DataFrame:
    """Return the speed of parameter-server clusters by number of workers."""
    table = pd.read_csv(source / "scaling_by_workers.csv")
    return table.rename(columns={"cluster_steps_per_s_mean": "steps_per_s",
                                 "cluster_steps_per_s_std": "steps_per_s_sd"})  # fmt: skip


def runs(source: Path) -> pd.DataFrame:
    """Return whole training runs with time, accuracy and bill."""
    table = pd.read_csv(source / "tdl_training_runs.csv")
    counts = {
        column: table["gpus"].str.extract(rf"(\d+)x{gpu}", expand=False).fillna("0").astype(int)
        for gpu, column in SERVERS.items()
    }
    lost = [lost_workers(source, row) for row in table.to_dict("records")]
    return pd.DataFrame(
        {
            "gpus": table["gpus"],
            **counts,
            "parameter_servers": table["parameter_servers_assumed"],
            "market": table["purchase"].map({"on-demand": "on_demand", "transient": MARKET}),
            "zone": table["zone"],
            "training_time_s": table["training_time_s"].round(3),
            "top1_accuracy": table["top1_accuracy"].round(5),
            "cost_usd": table["cost_usd"].round(6),
            "workers_lost": pd.array([_count(found) for found in lost], dtype="Int64"),
            "lost_uptime_s": [None if found is None else round(sum(found), 3) for found in lost],
            "source": table["source"],
        }
    )


def _count(found: list[float] | None) -> int | None:
    return None if found is None else len(found)


def lost_workers(source: Path, run: dict[str, Any]) -> list[float] | None:
    """Return the uptimes of the workers that a run lost [s]; None where that is not recorded."""
    machines = machines_of(source, run)
    if machines is None:
        return None
    revoked = machines["Revoked"].str.fullmatch("revoked", case=False)
    return machines["Uptime"][revoked].tolist()


def machines_of(source: Path, run: dict[str, Any]) -> pd.DataFrame | None:
    """Return the machines of one run on preemptible K80, or None."""
    folder = source / "raw" / "transient-deep-learning" / Path(_inner(run)).relative_to("data")
    path = folder.parent / "vm_data.csv"
    if "k80_spot" not in path.parts or not path.exists():
        return None
    table = pd.read_csv(path)
    return table[table["VM_name"].str.contains(f"{run['zone']}-run{run['run']:.0f}-")]


def _inner(run: dict[str, Any]) -> str:
    """Return the path of a run's table in its repository."""
    return str(run["source"]).split(" ", 1)[1].split(" ")[0]


def progress(source: Path) -> pd.DataFrame:
    """Return the steps that runs on preemptible K80 had done over time, and who still worked.

    Uptimes count from the machine's start, steps from the first evaluation: the difference is
    taken from the machine that ran longest.
    """
    found = []
    for run in pd.read_csv(source / "tdl_training_runs.csv").to_dict("records"):
        machines = machines_of(source, run)
        if machines is None:
            continue
        folder = source / "raw" / "transient-deep-learning" / Path(_inner(run)).relative_to("data")
        (path,) = folder.parent.glob("*train_data.csv")
        points = pd.read_csv(path)
        points = points[(points["Zone"] == run["zone"]) & (points["Run"] == run["run"])]
        elapsed = points["Wall Time"] - points["Wall Time"].iloc[0]
        before_s = machines["Uptime"].max() - elapsed.iloc[-1]
        revoked = machines["Revoked"].str.fullmatch("revoked", case=False)
        gone = (machines["Uptime"][revoked] - before_s).to_numpy()
        workers = len(machines) - (gone[None, :] <= elapsed.to_numpy()[:, None]).sum(axis=1)
        found.append(
            pd.DataFrame(
                {
                    "gpus": run["gpus"],
                    "zone": run["zone"],
                    "run": int(run["run"]),
                    "step": points["Step"].astype(int),
                    "elapsed_s": elapsed.round(1),
                    "workers": workers,
                    "source": str(run["source"]).replace("agg_data.csv", path.name),
                }
            )
        )
    return pd.concat(found)


def end_to_end(source: Path) -> pd.DataFrame:
    """Return runs with one revocation: what its authors estimated, and what it took."""
    table = pd.read_csv(source / "end_to_end_estimate_vs_actual.csv")
    return table[["revocation_step", "estimated_s", "actual_s", "source"]]


if __name__ == "__main__":
    sys.exit(main())
