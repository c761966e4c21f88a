"""The measured tables of ``data/transient/``, read once."""

from __future__ import annotations

import functools
from typing import Final

import pandas as pd

from advisor.core.errors import CatalogError
from advisor.core.paths import TABLES_DIR

COLUMNS: Final = {
    "revocations": ("gpu", "cloud", "region", "market", "year", "machines", "age_from_h",
                    "age_to_h", "revoked", "source"),
    "launches": ("gpu", "cloud", "region", "market", "year", "batch", "lifetime_h", "revoked",
                 "source"),
    "revocation_hours": ("gpu", "hour", "revocations", "source"),
    "startup": ("gpu", "region", "market", "n", "provisioning_s", "staging_s", "booting_s",
                "total_s", "total_sd_s", "source"),
    "replacement": ("model", "params", "num_tensors", "start", "n", "mean_s", "sd_s", "source"),
    "recomputation": ("steps_since_last_checkpoint", "variant", "training_time_s", "source"),
    "checkpoints": ("model", "local_write_s", "upload_s", "total_duration_s", "checkpoint_mb",
                    "index_kb", "source"),
    "speeds": ("model", "gpu", "model_gflops", "window", "step_time_s", "source"),
    "scaling": ("model", "gpu", "parameter_servers", "workers", "steps_per_s", "steps_per_s_sd",
                "source"),
    "runs": ("gpus", "k80", "p100", "v100", "parameter_servers", "market", "zone",
             "training_time_s", "top1_accuracy", "cost_usd", "workers_lost", "lost_uptime_s",
             "source"),
    "progress": ("gpus", "zone", "run", "step", "elapsed_s", "workers", "source"),
    "end_to_end": ("revocation_step", "estimated_s", "actual_s", "source"),
}  # fmt: skip


@functools.cache
def table(name: str) -> pd.DataFrame:
    """Return a table; do not change it in place.

    Raises
    ------
    CatalogError
        If it is missing or lacks a column.
    """
    path = TABLES_DIR / "transient" / f"{name}.csv"
    repair = "Restore it from the release, or write it again with data/distil_transient.py."
    try:
        frame = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise CatalogError(f"cannot be read ({error}).", where=path.name, todo=repair) from error
    missing = [column for column in COLUMNS[name] if column not in frame]
    if missing:
        raise CatalogError(f"lacks the column {', '.join(missing)}.", where=path.name, todo=repair)
    return frame
