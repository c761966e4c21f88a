"""NeuSight's latencies: the work of whole networks in FP32, and the devices they ran on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor import zoo
from advisor.catalog.names import spelled
from advisor.core.errors import AdvisorError
from advisor.predictor.hardware import facts_of, usual_link
from advisor.predictor.layer_time import KEPT_SCORES, KEPT_WIDTHS, WRITE_AND_READ
from benchmarks.boards.cephalo_rows import POWER_W

if TYPE_CHECKING:
    from advisor.catalog import Catalog

BYTES: Final = 4.0
MODES: Final = ("train", "inf")
COLUMNS: Final = ("model", "seq_len", "batch", "gpu", "mode", "option", "measured_ms")
# Layers, width and heads as in Brown et al., 2020, arXiv 2005.14165, table 2.1; XL with the width
# that its 24 heads of 128 make (the table prints 2048), which is what its time of a 2.7B says.
GPT3: Final = {
    "gpt3_small": (12, 768, 12), "gpt3_medium": (24, 1024, 16), "gpt3_large": (24, 1536, 16),
    "gpt3_xl": (24, 3072, 24), "gpt3_27": (32, 2560, 32), "gpt3_67": (32, 4096, 32),
    "gpt3_175": (96, 12288, 96),
}  # fmt: skip
GPT_VOCAB: Final = 50_257
# Switch Transformer XL: the encoder and decoder of T5 XL (Raffel et al., 2019, arXiv 1910.10683:
# 24 layers each, 2048 wide, 5120 inside, 32 heads), every second feed-forward layer with experts.
SWITCH: Final = re.compile(r"switchxl(\d+)")
T5_LAYERS, T5_WIDTH, T5_INNER, T5_HEADS, T5_VOCAB = 24, 2048, 5120, 32, 32_128
MASKED_SHARE: Final = 0.15
# Beyond these a figure is a slip: no batch, no sequence, no latency in ms.
PLAUSIBLE: Final = (1e-6, 1e9)
OPTION: Final = re.compile(r"(dp|tp|pp)(\d+)(?:_(\d+))?|fusion|")
# The matrix cores of CDNA and CDNA 2 do FP32 at twice the rate of the vector units, which the
# catalog has (AMD data sheets: MI100 46.1, MI210 45.3, MI250 90.5 TFLOP/s).
MATRIX_CORES: Final = ("CDNA 1.0", "CDNA 2.0")
# One device of these boards is one of two dies; the power is that of the board.
TWO_DIES: Final = ("MI250", "MI250X")


@dataclass(frozen=True, slots=True)
class Network:
    """A network on one sequence: what `advisor.predictor.layer_time.LayerWork` is made of."""

    layers: float
    hidden: float
    params: float
    dense_flops: float
    attention_flops: float
    elements: float
    scores: float


def network(name: str, tokens: int) -> Network | None:
    """Return the numbers of a network in the spelling of the file, None where it is not known."""
    switch = SWITCH.fullmatch(name)
    if switch:
        return _switch(int(switch[1]), tokens)
    if name in GPT3:
        layers, hidden, heads = GPT3[name]
        inside, head = 12.0 * layers * hidden**2, float(GPT_VOCAB * hidden)
        return _network(layers, hidden, heads, inside + head, inside + head, GPT_VOCAB, tokens)
    for spelling in _spellings(name):
        try:
            known = zoo.named(spelling)
            model = known.model(tokens) if known is not None else None
        except AdvisorError:
            model = None  # longer than the network takes
        if model is not None and model.is_transformer:
            dense = (model.forward_flops_per_sample - model.attention_flops_per_sample) / 2 / tokens
            share = MASKED_SHARE if model.family == "encoder" else 1.0
            return _network(model.layers, model.hidden, model.heads, dense, model.params,
                            share * model.vocab, tokens)  # fmt: skip
    return None


def _spellings(name: str) -> list[str]:
    """Return readings of a name: opt_13 is OPT-1.3B.

    >>> _spellings("opt_13")
    ['opt-1.3b', 'opt-13b', 'opt_13']
    """
    sized = re.fullmatch(r"([a-z0-9]+?)_(\d)(\d)", name)
    if sized is None:
        return [name, f"{name}b"]
    return [f"{sized[1]}-{sized[2]}.{sized[3]}b", f"{sized[1]}-{sized[2]}{sized[3]}b", name]


def _network(
    layers: float, hidden: float, heads: float, active: float, params: float, vocab: float,
    tokens: float, attentions: float | None = None,
) -> Network:  # fmt: skip
    blocks = layers if attentions is None else attentions
    return Network(
        layers=layers,
        hidden=hidden,
        params=params,
        dense_flops=2 * active * tokens,
        attention_flops=4 * blocks * hidden * tokens**2,
        elements=(KEPT_WIDTHS * layers * hidden + vocab) * tokens,
        scores=KEPT_SCORES * blocks * heads * tokens**2,
    )


def _switch(experts: int, tokens: int) -> Network:
    attention, inner = 4.0 * T5_WIDTH**2, 2.0 * T5_WIDTH * T5_INNER
    active = T5_LAYERS * (3 * attention + 2 * inner) + float(T5_VOCAB * T5_WIDTH)
    params = active + T5_LAYERS * (experts - 1) * inner
    return _network(2 * T5_LAYERS, T5_WIDTH, T5_HEADS, active, params, T5_VOCAB, tokens,
                    3 * T5_LAYERS)  # fmt: skip


def read_rows(raw: pd.DataFrame, catalog: Catalog) -> pd.DataFrame:
    """Return the rows with the work of one device and its facts; NaN where something is unknown.

    ``usable`` says which rows can be predicted. Tensor parallelism divides the work, data
    parallelism the batch, a pipeline the time.
    """
    rows = raw.reset_index(drop=True)
    rows = rows.assign(option=rows["option"].fillna("") if "option" in rows else "")
    for column in ("model", "gpu", "mode"):
        rows[column] = rows[column].fillna("").astype(str)
    for column in ("seq_len", "batch", "measured_ms"):
        figures = pd.to_numeric(rows[column], errors="coerce")
        rows[column] = figures.where(figures.between(*PLAUSIBLE))
    options = rows["option"].astype(str).str.extract(r"^(dp|tp|pp)(\d+)(?:_(\d+))?$")
    ways = options[1].astype(float).fillna(1.0)
    for way in ("dp", "tp", "pp"):
        rows[way] = ways.where(options[0] == way, 1.0)
    rows["micro_batches"] = options[2].astype(float).fillna(1.0)
    rows["train"] = (rows["mode"] == "train").astype(float)
    rows["fused"] = (rows["option"] == "fusion").astype(float)
    rows["samples"] = rows["batch"] / rows["dp"]
    rows = rows.join(_networks(rows)).join(_devices(rows, catalog))
    understood = rows["option"].astype(str).map(lambda text: bool(OPTION.fullmatch(text)))
    asked = rows[["samples", "dense_flops", "peak_flops", "memory_bytes_per_s", "year"]]
    sensible = (rows["samples"] > 0) & (rows["measured_ms"] > 0) & rows["mode"].isin(MODES)
    rows["usable"] = understood & asked.notna().all(axis=1) & sensible & (ways > 0)
    return _alike(rows)


def _networks(rows: pd.DataFrame) -> pd.DataFrame:
    names = list(Network.__dataclass_fields__)
    known: dict[tuple[str, float], Network | None] = {}
    found = []
    for model, tokens in zip(rows["model"].astype(str), rows["seq_len"], strict=True):
        if (model, tokens) not in known:
            known[model, tokens] = network(model, int(tokens)) if tokens > 0 else None
        one = known[model, tokens]
        found.append([np.nan if one is None else getattr(one, name) for name in names])
    return pd.DataFrame(found, columns=names, index=rows.index, dtype=float)


def _devices(rows: pd.DataFrame, catalog: Catalog) -> pd.DataFrame:
    facts = facts_of(catalog, rows["gpu"].astype(str))
    name = rows["gpu"].astype(str).map(lambda text: catalog.spellings.get(spelled(text), ""))
    dies = np.where(name.isin(TWO_DIES), 2.0, 1.0)
    matrix = np.where(facts["architecture"].isin(MATRIX_CORES), 2.0, 1.0)
    return pd.DataFrame(
        {
            "device": name,
            "chip": name.map(chip_of),
            "peak_flops": facts["peak_fp32_flops"] * matrix / dies,
            "memory_bytes_per_s": facts["memory_bytes_per_s"] / dies,
            "power_w": name.map(POWER_W).fillna(facts["tdp_w"]).fillna(np.inf),
            "year": facts["year"],
            "amd": (facts["vendor"] == "AMD").astype(float),
            "link_bytes_per_s": usual_link(facts),
        },
        index=rows.index,
    )


def chip_of(device: str) -> str:
    """Return the chip of a catalog name: boards of one chip are near-copies.

    >>> chip_of("A100-40GB-PCIe"), chip_of("MI250"), chip_of("RTX-A6000")
    ('A100', 'MI200', 'RTX-A6000')
    """
    if device.startswith("MI2"):
        return "MI200"
    return device if device.startswith("RTX") else device.split("-", maxsplit=1)[0]


def _alike(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the columns by which rows are alike."""
    work = rows["dense_flops"] * rows["samples"] / rows["tp"] / rows["pp"]
    score_bytes = rows["scores"] * WRITE_AND_READ * BYTES
    with np.errstate(divide="ignore", invalid="ignore"):
        return rows.assign(
            log_flops=np.log(work),
            log_scores=np.log(score_bytes / rows["dense_flops"]),
            log_width=np.log(rows["hidden"]),
            log_peak=np.log(rows["peak_flops"]),
            log_power=np.log(rows["power_w"] / rows["peak_flops"]),
            log_bandwidth=np.log(rows["memory_bytes_per_s"] / rows["peak_flops"]),
            of_dp=(rows["dp"] > 1).astype(float),
            of_tp=(rows["tp"] > 1).astype(float),
            of_pp=(rows["pp"] > 1).astype(float),
            of_experts=rows["model"].astype(str).str.startswith("switch").astype(float),
        )
