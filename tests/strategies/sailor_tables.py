"""Tables of the published columns for a clone alone: made-up layers, links and prices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from pathlib import Path

LAYERS = 6
ZONES = ("east", "north", "far")
SPEED = {"quick": 1.0, "slow": 2.6}
MEMORY_BYTES = {"quick": 4.0e10, "slow": 1.6e10}
USD_PER_H = {"quick": 4.0, "slow": 1.5}


def write_tables(folder: Path) -> None:
    """Write five files with the columns of the board: six layers, two accelerators, three zones."""
    layers = [
        {"model": "OPT-350", "gpu": gpu, "micro_batch": size, "tensor_parallel": tensor,
         "layer": layer, "forward_s": (0.2 + size) * slow * 1e-3 * heavy / tensor**0.8,
         "backward_s": (0.3 + 2 * size) * slow * 1e-3 * heavy / tensor**0.8, "update_s": 1e-4}
        for gpu, slow in SPEED.items()
        for size in (1, 2, 4)
        for tensor in (1, 2, 4)
        for layer, heavy in enumerate((0.2, 4.0, 4.0, 5.0, 4.0, 2.0))
    ]  # fmt: skip
    pd.DataFrame(layers).to_csv(folder / "sailor_layer_profiles.csv", index=False)
    sizes = [
        {"model": "OPT-350", "tensor_parallel": tensor, "layer": layer,
         "params_bytes": 3e8 * (3 if layer == 0 else 1) / tensor, "activation_output_bytes": 8e6,
         "activation_input_bytes": 8e6, "activation_memory_bytes": 6e8 / tensor}
        for tensor in (1, 2, 4)
        for layer in range(LAYERS)
    ]  # fmt: skip
    pd.DataFrame(sizes).to_csv(folder / "sailor_layer_memory.csv", index=False)
    links = [
        {"from_zone": one, "from_gpu": gpu, "from_gpus": n, "to_zone": other, "to_gpu": peer,
         "to_gpus": m, "c2": -0.001, "c1": 0.1, "max_bytes_per_s": 1e10,
         "c0": min(n, m) * (2.0 if one == other else 0.2 if "far" in (one, other) else 1.7)}
        for one in ZONES for other in ZONES for gpu in SPEED for peer in SPEED
        for n in (1, 2, 4) for m in (1, 2, 4)
    ]  # fmt: skip
    pd.DataFrame(links).to_csv(folder / "sailor_zone_links.csv", index=False)
    egress = [
        {"from_zone": one, "to_zone": other,
         "usd_per_gb": 0.0 if one == other else 0.02 if "far" in (one, other) else 0.01}
        for one in ZONES for other in ZONES
    ]  # fmt: skip
    pd.DataFrame(egress).to_csv(folder / "sailor_egress.csv", index=False)
    gpus = [
        {"gpu": gpu, "gpus_per_node": 4, "simulator_memory_limit_bytes": MEMORY_BYTES[gpu],
         "simulator_usd_per_gpu_hour": USD_PER_H[gpu]}
        for gpu in SPEED
    ]  # fmt: skip
    pd.DataFrame(gpus).to_csv(folder / "sailor_gpus.csv", index=False)
