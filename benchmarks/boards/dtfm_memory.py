"""Which cells of a 1.3 B language model fit on 16 GiB: Megatron-LM and pipelines of PyTorch.

Kept activations as in Korthikanti et al., 2022, arXiv 2205.05198, equations 1 and 2, with the
attention scores that kernels of 2022 wrote. One constant is calibrated by one measured cell: how
much the layer at work needs beside what it keeps (at most its gradients, as much again).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from advisor.predictor.arrays import FloatArray

CAPACITY_BYTES: Final = 16 * 2.0**30
CONTEXT_BYTES: Final = 0.8e9
LAYERS: Final = 24
HIDDEN: Final = 2048
TOKENS: Final = 2048
HEADS: Final = 16
VOCABULARY: Final = 50_257
STATE_BYTES_PER_PARAM: Final = 16.0
# Bytes kept of each attention score: softmax, dropout and its mask in fp16; in fp32 the scores
# before and after the mask as well, with both masks.
SCORE_BYTES: Final = {False: 5.0, True: 17.0}
# Logits beside their gradient; in half precision with a float copy.
LOGIT_BYTES: Final = {False: 6.0, True: 8.0}
MOST_WORK: Final = 2.0
PIPE_STAGES: Final = 8
SHARDED_REPLICAS: Final = 6
SHARDED_BATCH: Final = 252


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its layout, and whether it ran out of memory."""

    setup: str
    tensor_parallel: int
    stages: int
    replicas: int
    micro_batch: int
    batch: int
    fp32: bool
    recompute: bool
    gpipe: bool
    out_of_memory: bool


def read_memory_cells(frame: pd.DataFrame) -> list[Cell]:
    """Return the cells of the tables that have cells out of memory."""
    tables = frame[frame["table_or_figure"].str.contains(r"gpt3_xl\.md: table", na=False)]
    setup = tables["setup"]
    found = pd.DataFrame(
        {
            "setup": setup,
            "tensor_parallel": setup.str.extract(r"(?:T-|Tensor\(T\)-)(\d)")[0].fillna("1"),
            "stages": setup.str.extract(r"(?:P-|Pipe\(P\)-)(\d)")[0].fillna("1"),
            "replicas": setup.str.extract(r"DP-(\d)")[0].fillna("1"),
            "micro_batch": setup.str.extract(r"icro-batch (\d)")[0],
            "batch": tables["batch"],
            "fp32": tables["precision"] == "fp32",
            "recompute": ~setup.str.contains("no activation"),
            "gpipe": setup.str.contains("torch pipe"),
            "sharded": setup.str.contains("FSDP"),
            "out_of_memory": tables["metric"] == "out_of_memory",
        }
    )
    known = setup.str.contains("Megatron.*p3.16xlarge|torch pipe")
    found = found[known & found["micro_batch"].notna()]
    cells = []
    for row in found.to_dict("records"):
        # The file gives neither batch nor precision of the sharded pipeline: the batch is that of
        # the other runs on 6 machines, the precision half, as sharding is used with.
        sharded = bool(row["sharded"])
        cells.append(Cell(
            setup=str(row["setup"]),
            tensor_parallel=int(row["tensor_parallel"]),
            stages=PIPE_STAGES if row["gpipe"] else int(row["stages"]),
            replicas=SHARDED_REPLICAS if sharded else int(row["replicas"]),
            micro_batch=int(row["micro_batch"]),
            batch=SHARDED_BATCH if sharded else int(row["batch"]),
            fp32=bool(row["fp32"]),
            recompute=bool(row["recompute"]),
            gpipe=bool(row["gpipe"]),
            out_of_memory=bool(row["out_of_memory"]),
        ))  # fmt: skip
    return cells


def peak_bytes(cell: Cell, work: float) -> float:
    """Return the peak of the fullest device [bytes].

    Parameters
    ----------
    work : float
        What the layer at work holds over what it keeps, 1 to `MOST_WORK`.
    """
    ranks = cell.tensor_parallel
    element = 4.0 if cell.fp32 else 2.0
    tokens = TOKENS * cell.micro_batch
    boundary = element * tokens * HIDDEN
    scores = HEADS * TOKENS * tokens * SCORE_BYTES[cell.fp32] / ranks
    kept = boundary / 2 * (10 + 24 / ranks) + scores
    layers = LAYERS / cell.stages
    micro_batches = max(cell.batch / cell.replicas / cell.micro_batch, 1.0)
    in_flight = micro_batches if cell.gpipe else min(cell.stages, micro_batches)
    embedding = VOCABULARY * HIDDEN / ranks
    params = 12 * HIDDEN**2 * layers / ranks + embedding
    base = STATE_BYTES_PER_PARAM * params + CONTEXT_BYTES
    at_work = (work - 1) * kept
    if cell.gpipe:  # a stage keeps its input, and all of the last micro-batch
        held = in_flight * boundary + layers * kept
    elif cell.recompute:
        held = in_flight * layers * boundary + kept
    else:
        return base + in_flight * layers * kept
    # The head is done before the layers are repeated: the last stage never holds both.
    head = LOGIT_BYTES[cell.fp32] * tokens * VOCABULARY / ranks
    return base + max(held + at_work, layers * boundary + head)


def calibrated_work(cell: Cell) -> float:
    """Return the largest need of the layer at work with which a measured cell fits."""
    fitting = [work for work in np.linspace(MOST_WORK, 1.0, 101)
               if peak_bytes(cell, float(work)) <= CAPACITY_BYTES]  # fmt: skip
    return float(fitting[0]) if fitting else 1.0


def calibration_cell(cells: list[Cell]) -> Cell:
    """Return the measured cell with the largest predicted peak among recomputing ones in fp32."""
    fits = [
        cell
        for cell in cells
        if not cell.out_of_memory and cell.fp32 and cell.recompute and not cell.gpipe
    ]
    return max(fits, key=lambda cell: peak_bytes(cell, MOST_WORK))


def peaks(cells: list[Cell], work: float) -> FloatArray:
    """Return the peak of every cell [bytes]."""
    return np.array([peak_bytes(cell, work) for cell in cells])
