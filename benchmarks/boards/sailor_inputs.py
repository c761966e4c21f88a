"""What Sailor's own simulator gets: layer times, layer sizes and links, by model and accelerator.

A figure that was not profiled is made of those that were: a micro-batch by interpolation, a
tensor-parallel degree by its inverse, an accelerator by its memory bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import pandas as pd

from advisor.core.errors import PredictionError
from advisor.predictor.hardware import facts_of, usual_network

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.catalog import Catalog
    from advisor.predictor.arrays import FloatArray

TIMES: Final = ["forward_s", "backward_s", "update_s"]
# The fits are of messages from 1 MB on, as log2 of MB.
SMALLEST_MB: Final = 0.1
SLOWEST_BYTES_PER_S: Final = 1e7


@dataclass(frozen=True)
class LayerTables:
    """The tables of the board, by key."""

    times: dict[tuple[str, str, int], dict[int, FloatArray]]
    sizes: dict[tuple[str, int], pd.DataFrame]
    links: dict[tuple[str, int], tuple[float, ...]]
    inside: dict[tuple[str, int], float]
    catalog: Catalog

    @classmethod
    def read(cls, folder: Path, catalog: Catalog) -> Self:
        """Read the tables of a folder that holds the board's files."""
        times: dict[tuple[str, str, int], dict[int, FloatArray]] = {}
        profiles = pd.read_csv(folder / "sailor_layer_profiles.csv")
        keys = ["model", "gpu", "tensor_parallel", "micro_batch"]
        for key, rows in profiles.groupby(keys):
            model, gpu, ranks, batch = key
            layers = rows.sort_values("layer")[TIMES].to_numpy(float)
            known = times.setdefault((str(model), str(gpu), int(str(ranks))), {})
            known[int(str(batch))] = layers
        sizes = pd.read_csv(folder / "sailor_layer_memory.csv")
        links = pd.read_csv(folder / "sailor_links.csv")
        inside = links[links["scope"] == "intra"]
        links = links[links["scope"] == "inter"]
        fits = links[["c2", "c1", "c0", "max_bytes_per_s"]].itertuples(index=False, name=None)
        return cls(
            times=times,
            sizes={(str(model), int(str(ranks))): rows.sort_values("layer")
                   for (model, ranks), rows in sizes.groupby(["model", "tensor_parallel"])},
            links=dict(zip(zip(links["gpu"], links["gpus_per_node"], strict=True), fits,
                           strict=True)),
            inside=dict(zip(zip(inside["gpu"], inside["gpus_per_node"], strict=True),
                            inside["max_bytes_per_s"], strict=True)),
            catalog=catalog,
        )  # fmt: skip

    def model_name(self, label: str) -> str:
        """Return the tables' name of a model: OPT-350M is OPT-350 there."""
        known = {model for model, _ in self.sizes}
        plain = label.removesuffix("B").removesuffix("M")
        for name in (label, plain):
            if name in known:
                return name
        raise PredictionError(
            f"No layer profile of {label!r}.", todo="Use one of " + ", ".join(sorted(known)) + "."
        )

    def layer_times(self, model: str, gpu: str, ranks: int, batch: int) -> FloatArray:
        """Return forward, backward and update of every layer, shape (layers, 3) [s]."""
        profiled = sorted(t for name, device, t in self.times if (name, device) == (model, gpu))
        if not profiled:
            return self._of_another_accelerator(model, gpu, ranks, batch)
        nearest = min(profiled, key=lambda t: (abs(np.log2(t / ranks)), t))
        by_batch = self.times[model, gpu, nearest]
        scale = np.array([nearest / ranks] * 3)
        if batch in by_batch:
            return np.asarray(by_batch[batch] * scale)
        known = sorted(by_batch)
        stacked = np.stack([by_batch[b] for b in known])
        flat = stacked.reshape(len(known), -1)
        inside = np.array([np.interp(batch, known, column) for column in flat.T])
        times = inside.reshape(stacked.shape[1:])
        if batch > known[-1]:
            times[:, :2] *= batch / known[-1]
        return np.asarray(times * scale)

    def _of_another_accelerator(self, model: str, gpu: str, ranks: int, batch: int) -> FloatArray:
        others = sorted({device for name, device, _ in self.times if name == model})
        named = pd.Series([gpu, *others])
        bandwidth = facts_of(self.catalog, named)["memory_bytes_per_s"].to_numpy(float)
        known = ~np.isnan(bandwidth[1:])
        if np.isnan(bandwidth[0]) or not known.any():
            raise PredictionError(
                f"No layer profile of {model!r} on {gpu!r}.",
                todo="Use one of " + ", ".join(others) + ".",
            )
        ratio = np.where(known, bandwidth[1:] / bandwidth[0], np.inf)
        twin = int(np.argmin(np.abs(np.log(ratio))))
        times = self.layer_times(model, others[twin], ranks, batch)
        return np.asarray(times * ratio[twin])

    def layer_sizes(self, model: str, ranks: int) -> pd.DataFrame:
        """Return the sizes of every layer on one device of a tensor-parallel group [bytes]."""
        if (model, ranks) in self.sizes:
            return self.sizes[model, ranks]
        nearest = min((t for name, t in self.sizes if name == model),
                      key=lambda t: (abs(np.log2(t / ranks)), t))  # fmt: skip
        found = self.sizes[model, nearest].copy()
        shared = ["params_bytes", "activation_memory_bytes"]
        found[shared] = found[shared] * nearest / ranks
        return found

    def network_bytes_per_s(self, gpu: str, gpus: int, size_bytes: float) -> float:
        """Return what so many devices of one machine send together [bytes/s]."""
        fitted = [count for device, count in self.links if device == gpu]
        if not fitted:
            year = facts_of(self.catalog, pd.Series([gpu]))["year"].to_numpy(float)
            return float(usual_network(year)[0])
        count = max([c for c in fitted if c <= gpus], default=min(fitted))
        c2, c1, c0, most = self.links[gpu, count]
        x = np.log2(max(size_bytes / 1e6, SMALLEST_MB))
        return float(np.clip((c2 * x**2 + c1 * x + c0) * 1e9, SLOWEST_BYTES_PER_S, most))
