"""Terms of step time and of peak memory of Sailor's plans, from layer profiles and links."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from advisor.core.errors import PredictionError
from advisor.predictor.stage_memory import stage_memory
from advisor.predictor.uneven_pipeline import (
    TRANSPORT_BUFFER_BYTES,
    Chains,
    chain_parts,
    exchange_s,
    slowest_chains,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from advisor.predictor.arrays import FloatArray
    from benchmarks.boards.sailor_inputs import LayerTables

# Weights, gradients and both moments of Adam, all in fp32.
STATE_BYTES_PER_PARAM: Final = 16.0
FP32_BYTES: Final = 4.0
# Gradients travel in buckets of this size.
BUCKET_BYTES: Final = 5e8
MOST_SAMPLES: Final = 1e9


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Layers of each stage, and its replicas as (accelerator, tensor-parallel degree)."""

    layers: tuple[int, ...]
    stages: tuple[tuple[tuple[str, int], ...], ...]

    @property
    def bounds(self) -> np.ndarray:
        """First layer of every stage, and the end."""
        return np.concatenate([[0], np.cumsum(self.layers)])


@dataclass(frozen=True, slots=True)
class Plan:
    """One row of the board: what is known before it runs."""

    model: str
    micro_batch: int
    micro_batches: float
    pipelines: tuple[Pipeline, ...]

    @classmethod
    def of(cls, row: pd.Series, tables: LayerTables) -> Self:
        """Read a row of ``sailor_plans.csv``.

        Raises
        ------
        PredictionError
            If its pipelines cannot be read or do not hold the model's layers.
        """
        try:
            model = tables.model_name(str(row["model"]))
            depth = len(tables.layer_sizes(model, 1))
            raw = json.loads(row["pipelines_json"])
            pipelines = tuple(_pipeline(one, depth) for one in raw)
            micro_batch = int(row["micro_batch"])
            width = sum(len(one.stages[0]) for one in pipelines)
            micro_batches = max(float(row["global_batch"]) / (micro_batch * width), 1.0)
        except (ArithmeticError, ValueError, TypeError, LookupError) as error:
            raise PredictionError("The plan cannot be read.") from error
        if not 1 <= micro_batch <= float(row["global_batch"]) < MOST_SAMPLES:
            raise PredictionError("The batches of the plan cannot be read.")
        return cls(model, micro_batch, micro_batches, pipelines)

    @property
    def accelerators(self) -> list[str]:
        """Types of accelerator, sorted."""
        return sorted({gpu for gpu, _ in self._replicas()})

    @property
    def group(self) -> str:
        """What plans of one script share: the widest tensor-parallel group."""
        return f"tensor-parallel {max(ranks for _, ranks in self._replicas())}"

    def _replicas(self) -> Iterator[tuple[str, int]]:
        return (one for line in self.pipelines for stage in line.stages for one in stage)


def _pipeline(raw: dict[str, Any], depth: int) -> Pipeline:
    layers = [int(count) for count in raw["layers_per_stage"]]
    if sum(layers) == depth - 2:  # the embeddings at both ends were not counted
        layers[0] += 1
        layers[-1] += 1
    stages = tuple(tuple(_replica(one) for one in stage) for stage in raw["stages"])
    shaped = len(stages) == len(layers) and all(stages) and min(layers) >= 1
    if sum(layers) != depth or not shaped:
        raise ValueError(layers)
    return Pipeline(tuple(layers), stages)


def _replica(raw: list[Any]) -> tuple[str, int]:
    machine = raw[0]
    ranks = int(raw[-1])
    if ranks < 1:
        raise ValueError(raw)
    return (str(machine if isinstance(machine, str) else machine[0]), ranks)


def time_terms(plan: Plan, tables: LayerTables) -> FloatArray:
    """Return compute with the bubble, exposed transfers, exchange and update of a step [s]."""
    found = [
        (plan_chain, line)
        for line in plan.pipelines
        for plan_chain in range(max(len(stage) for stage in line.stages))
    ]
    depth = max(len(line.layers) for line in plan.pipelines)
    compute, transfer = np.zeros((len(found), depth)), np.zeros((len(found), depth))
    buffered = np.ones((len(found), depth), dtype=bool)
    update = np.zeros(len(found))
    for row, (number, line) in enumerate(found):
        replicas = [stage[number % len(stage)] for stage in line.stages]
        columns = _chain(plan, line, replicas, tables)
        for into, values in zip((compute, transfer, buffered), columns[:3], strict=True):
            into[row, : len(replicas)] = values
        update[row] = columns[3]
    width = np.array([max(len(stage) for stage in line.stages) for _, line in found])
    first = np.array([len(line.stages[0]) for _, line in found])
    chains = Chains(compute, transfer, buffered, plan.micro_batches * first / width)
    parts = chain_parts(chains)
    slowest = slowest_chains(parts, np.zeros(len(found), dtype=int))
    busy = parts.take(slowest)
    return np.array([
        busy.compute_s[0] + busy.bubble_s[0],
        busy.transfer_s[0],
        _exchange_s(plan, tables),
        update[slowest[0]],
    ])  # fmt: skip


def _chain(
    plan: Plan, line: Pipeline, replicas: list[tuple[str, int]], tables: LayerTables
) -> tuple[FloatArray, FloatArray, np.ndarray, float]:
    """Return compute, transfer, whether buffered, by stage, and the update of a chain."""
    bounds = line.bounds
    whole = tables.layer_sizes(plan.model, 1)["activation_output_bytes"].to_numpy(float)
    stages = len(replicas)
    compute, transfer = np.zeros(stages), np.zeros(stages)
    buffered = np.ones(stages, dtype=bool)
    update = 0.0
    for stage, (gpu, ranks) in enumerate(replicas):
        times = tables.layer_times(plan.model, gpu, ranks, plan.micro_batch)
        compute[stage] = times[bounds[stage] : bounds[stage + 1], :2].sum()
        # The profile gives every layer the time of one whole update.
        update = max(update, float(times[:, 2].max()))
        if stage + 1 == stages:
            continue
        # An activation crosses at the rate of one device's connection: devices of a
        # tensor-parallel group with a network each send a copy each, those that share one a share.
        size = whole[bounds[stage + 1] - 1] * plan.micro_batch
        ends = (gpu, replicas[stage + 1][0])
        rate = min(tables.network_bytes_per_s(end, 1, size) for end in ends)
        transfer[stage] = size / rate
        buffered[stage] = size / max(ranks, replicas[stage + 1][1]) <= TRANSPORT_BUFFER_BYTES
    return compute, transfer, buffered, update


def _exchange_s(plan: Plan, tables: LayerTables) -> float:
    """Return how long the replicas of all pipelines exchange gradients [s]."""
    owned = [
        (gpu, ranks, line.bounds[stage], line.bounds[stage + 1])
        for line in plan.pipelines
        for stage, replicas in enumerate(line.stages)
        for gpu, ranks in replicas
    ]
    sizes = {ranks: tables.layer_sizes(plan.model, ranks)["params_bytes"].to_numpy(float) * ranks
             for _, ranks, _, _ in owned}  # fmt: skip
    layer_bytes = np.max(list(sizes.values()), axis=0)
    layer = np.arange(len(layer_bytes))
    held = np.array([(first <= layer) & (layer < end) for *_, first, end in owned])
    chunk = BUCKET_BYTES / max(int(held.sum(axis=0).max()), 1)
    rates = [tables.network_bytes_per_s(gpu, ranks, chunk) for gpu, ranks, _, _ in owned]
    return exchange_s(layer_bytes, held, np.array(rates))


def memory_terms(plan: Plan, tables: LayerTables) -> FloatArray:
    """Return states, activations, what is at work and the context of the fullest device [bytes]."""
    columns = np.array([row for line in plan.pipelines for row in _stage_rows(plan, line, tables)])
    params, kept, in_flight, largest, logits, ranks = columns.T
    found = stage_memory(params, STATE_BYTES_PER_PARAM, kept, in_flight, largest, logits, ranks)
    fullest = int(np.argmax(found.used_bytes))
    return np.array([
        found.states_bytes[fullest],
        found.activations_bytes[fullest],
        found.working_bytes[fullest],
        found.context_bytes[fullest],
    ])  # fmt: skip


def _stage_rows(plan: Plan, line: Pipeline, tables: LayerTables) -> Iterator[tuple[float, ...]]:
    bounds = line.bounds
    last = len(line.stages) - 1
    for stage, replicas in enumerate(line.stages):
        for ranks in sorted({ranks for _, ranks in replicas}):
            sizes = tables.layer_sizes(plan.model, ranks).iloc[bounds[stage] : bounds[stage + 1]]
            kept = sizes["activation_memory_bytes"].to_numpy(float) * plan.micro_batch
            # What the head keeps is the logits, counted apart.
            layers = kept[:-1] if stage == last and len(kept) > 1 else kept
            logits = float(sizes["activation_output_bytes"].iloc[-1]) if stage == last else 0.0
            yield (
                float(sizes["params_bytes"].sum()) / FP32_BYTES,
                float(kept.sum()),
                min(last - stage + 1, plan.micro_batches),
                float(layers.max()),
                logits * plan.micro_batch,
                float(ranks),
            )
