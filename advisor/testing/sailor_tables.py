"""The published scenarios of Sailor's planner: tables of layers and links, and who chose what."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
import pandas as pd

from advisor.strategies.sailor import Goal, LayerCosts, Links, Pool, Space

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MODEL: Final = "OPT-350"
GLOBAL_BATCH: Final = 1024
STATE_BYTES: Final = 24.0
FP32_BYTES: Final = 4.0


@dataclass(frozen=True)
class Tables:
    """The board's tables for one model."""

    times: Mapping[tuple[str, int, int], pd.DataFrame]
    memory: Mapping[int, pd.DataFrame]
    links: Mapping[tuple[str, str, int, str, str, int], tuple[float, float, float]]
    egress: Mapping[tuple[str, str], float]
    gpus: Mapping[str, Mapping[str, float]]

    @classmethod
    def read(cls, folder: Path, model: str = MODEL) -> Self:
        """Read the five files of a folder."""
        times = pd.read_csv(folder / "sailor_layer_profiles.csv")
        memory = pd.read_csv(folder / "sailor_layer_memory.csv")
        links = pd.read_csv(folder / "sailor_zone_links.csv")
        egress = pd.read_csv(folder / "sailor_egress.csv")
        gpus = pd.read_csv(folder / "sailor_gpus.csv").set_index("gpu")
        own = times[(times["model"] == model) & times["gpu"].isin(gpus.index)]
        sizes = memory[memory["model"] == model]
        keys = ["from_zone", "from_gpu", "from_gpus", "to_zone", "to_gpu", "to_gpus"]
        return cls(
            times={(str(key[0]), int(str(key[1])), int(str(key[2]))): rows.sort_values("layer")
                   for key, rows in own.groupby(["gpu", "tensor_parallel", "micro_batch"])},
            memory={int(str(tensor)): rows.sort_values("layer")
                    for tensor, rows in sizes.groupby("tensor_parallel")},
            links=dict(zip(links[keys].itertuples(index=False, name=None),
                           links[["c2", "c1", "c0"]].itertuples(index=False, name=None),
                           strict=True)),
            egress=dict(zip(zip(egress["from_zone"], egress["to_zone"], strict=True),
                            egress["usd_per_gb"].tolist(), strict=True)),
            gpus={str(name): {str(column): float(value) for column, value in row.items()}
                  for name, row in gpus.iterrows()},
        )  # fmt: skip

    def space(self, available: Mapping[str, int], goal: Goal | None = None) -> Space:
        """Return what the planner gets; `available` is by ``accelerator_zone``."""
        pools = []
        for name, devices in available.items():
            gpu, _, zone = name.partition("_")
            facts = self.gpus[gpu]
            pools.append(
                Pool(
                    zone=zone,
                    gpu=gpu,
                    devices=devices,
                    devices_per_node=int(facts["gpus_per_node"]),
                    memory_bytes=facts["simulator_memory_limit_bytes"],
                    usd_per_h=facts["simulator_usd_per_gpu_hour"],
                )
            )
        return Space(
            pools=tuple(pools),
            costs=self.costs,
            links=Links({((a, b, n), (c, d, m)): fit
                         for (a, b, n, c, d, m), fit in self.links.items()}),
            global_batch=GLOBAL_BATCH,
            goal=goal or Goal(),
            egress_usd_per_gb=self.egress,
        )  # fmt: skip

    @cached_property
    def costs(self) -> LayerCosts:
        """The layers as the planner takes them."""
        keys = sorted({(gpu, tensor) for gpu, tensor, _ in self.times if tensor in self.memory})
        state, kept, fixed = {}, {}, {}
        for gpu, tensor in keys:
            rows = self.memory[tensor]
            state[gpu, tensor] = rows["params_bytes"].to_numpy(float) / FP32_BYTES * STATE_BYTES
            kept[gpu, tensor] = rows["activation_memory_bytes"].to_numpy(float)
            fixed[gpu, tensor] = fixed_bytes(tensor)
        return LayerCosts(
            busy_s={key: (rows["forward_s"] + rows["backward_s"]).to_numpy(float)
                    for key, rows in self.times.items()},
            update_s={key: rows["update_s"].to_numpy(float) for key, rows in self.times.items()},
            output_bytes=self.memory[1]["activation_output_bytes"].to_numpy(float),
            weight_bytes=self.memory[1]["params_bytes"].to_numpy(float),
            state_bytes=state,
            activation_bytes=kept,
            fixed_bytes=fixed,
        )  # fmt: skip


def fixed_bytes(tensor: int) -> float:
    """Return what a device needs beside its layers."""
    return 2e9 if tensor == 1 else 3e9


@dataclass(frozen=True)
class Case:
    """One scenario of the board: what there is, what is asked, and what others chose."""

    name: str
    available: Mapping[str, int]
    goal: Goal
    plans: Mapping[str, Mapping[str, Any]]
    others: pd.DataFrame

    @property
    def to_beat(self) -> float:
        """Best figure of the others: iteration [s], or its cost [USD] where that is asked."""
        column = "usd_per_iter" if self.goal.cheapest else "iter_s"
        return float(self.others[column].min())

    def figure(self, iteration_s: float, usd: float) -> float:
        """Return the figure that is asked."""
        return usd if self.goal.cheapest else iteration_s


def cases(path: Path) -> list[Case]:
    """Read the scenarios of the board; plans that use what is not there are left out."""
    rows = pd.read_csv(path)
    found = []
    for name, group in rows.groupby("scenario", sort=False):
        first = group.iloc[0]
        done = group[group["plan_json"].notna() & (group["fits_available"] == 1)]
        rate, most = first["min_it_per_s"], first["max_usd_per_iter"]
        goal = Goal(
            cheapest=first["objective"] == "iteration_cost",
            most_s=np.inf if np.isnan(rate) else 1 / rate,
            most_usd=np.inf if np.isnan(most) else most,
        )
        plans = {str(row.planner): json.loads(str(row.plan_json)) for row in done.itertuples()}
        available = json.loads(first["gpus_available_json"])
        found.append(Case(str(name), available, goal, plans, done.set_index("planner")))
    return found
