"""Decoders with gated feed-forward layers: Llama, Mistral, Qwen, Gemma, Phi-3, OLMo."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from advisor.zoo.kinds import styles
from advisor.zoo.kinds.decoder import DecoderShape, decoder

if TYPE_CHECKING:
    from advisor.zoo.base import Architecture
    from advisor.zoo.kinds.transformer import DecoderStyle


class Row(NamedTuple):
    """One size of a family."""

    name: str
    title: str
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    inner: int
    published_params: float
    aliases: tuple[str, ...] = ()
    head_dim: int | None = None


def _family(
    style: DecoderStyle,
    source: str,
    vocab: int,
    longest: int,
    rows: tuple[Row, ...],
) -> tuple[Architecture, ...]:
    """Return the decoders of one family."""
    return tuple(
        decoder(
            style,
            DecoderShape(
                vocab=vocab,
                hidden=row.hidden,
                layers=row.layers,
                heads=row.heads,
                kv_heads=row.kv_heads,
                head_dim=row.head_dim,
                inner=row.inner,
                longest=longest,
            ),
            name=row.name,
            title=row.title,
            published_params=row.published_params,
            source=source,
            aliases=row.aliases,
        )
        for row in rows
    )


TIED_LLAMA = replace(styles.LLAMA, tied=True)
TIED_QWEN2 = replace(styles.QWEN2, tied=True)
TIED_QWEN3 = replace(styles.QWEN3, tied=True)

LLAMA_1_SOURCE = "Touvron et al. 2023, arXiv 2302.13971, table 2; parameters: model cards"
LLAMA_1 = _family(
    styles.LLAMA,
    LLAMA_1_SOURCE,
    32000,
    2048,
    (
        Row("llama-7b", "LLaMA-7B", 4096, 32, 32, 32, 11008, 6_738_415_616),
        Row("llama-13b", "LLaMA-13B", 5120, 40, 40, 40, 13824, 13_015_864_320),
        Row("llama-30b", "LLaMA-30B", 6656, 60, 52, 52, 17920, 32_528_943_616, ("llama-33b",)),
        Row("llama-65b", "LLaMA-65B", 8192, 80, 64, 64, 22016, 65_285_660_672),
    ),
)
LLAMA_2 = _family(
    styles.LLAMA,
    "Touvron et al. 2023, arXiv 2307.09288; parameters: model cards meta-llama/Llama-2",
    32000,
    4096,
    (
        Row("llama-2-7b", "Llama-2-7B", 4096, 32, 32, 32, 11008, 6_738_415_616),
        Row("llama-2-13b", "Llama-2-13B", 5120, 40, 40, 40, 13824, 13_015_864_320),
        Row("llama-2-70b", "Llama-2-70B", 8192, 80, 64, 8, 28672, 68_976_648_192),
    ),
)
LLAMA_3 = _family(
    styles.LLAMA,
    "Grattafiori et al. 2024, arXiv 2407.21783, table 3; parameters: model cards meta-llama",
    128256,
    8192,
    (
        Row("llama-3-8b", "Llama-3-8B", 4096, 32, 32, 8, 14336, 8_030_261_248, ("llama-3.1-8b",)),
        Row(
            "llama-3-70b",
            "Llama-3-70B",
            8192,
            80,
            64,
            8,
            28672,
            70_553_706_496,
            ("llama-3.1-70b", "llama-3.3-70b"),
        ),
        Row(
            "llama-3-405b",
            "Llama-3.1-405B",
            16384,
            126,
            128,
            8,
            53248,
            405_853_388_800,
            ("llama-3.1-405b",),
        ),
    ),
)
LLAMA_3_2 = _family(
    TIED_LLAMA,
    "Meta 2024, model cards meta-llama/Llama-3.2",
    128256,
    131072,
    (
        Row("llama-3.2-1b", "Llama-3.2-1B", 2048, 16, 32, 8, 8192, 1_235_814_400, (), 64),
        Row("llama-3.2-3b", "Llama-3.2-3B", 3072, 28, 24, 8, 8192, 3_212_749_824),
    ),
)
MISTRAL = _family(
    styles.LLAMA,
    "Jiang et al. 2023, arXiv 2310.06825, table 1; parameters: model card mistralai/Mistral-7B",
    32000,
    8192,
    (Row("mistral-7b", "Mistral-7B", 4096, 32, 32, 8, 14336, 7_241_732_096),),
)
TINY_LLAMA = _family(
    styles.LLAMA,
    "Zhang et al. 2024, arXiv 2401.02385, table 1; parameters: model card TinyLlama",
    32000,
    2048,
    (Row("tinyllama-1.1b", "TinyLlama-1.1B", 2048, 22, 32, 4, 5632, 1_100_048_384),),
)
QWEN_2 = _family(
    TIED_QWEN2,
    "Yang et al. 2024, arXiv 2407.10671, table 1; parameters: model cards Qwen/Qwen2",
    151936,
    32768,
    (
        Row("qwen2-0.5b", "Qwen2-0.5B", 896, 24, 14, 2, 4864, 494_032_768),
        Row("qwen2-1.5b", "Qwen2-1.5B", 1536, 28, 12, 2, 8960, 1_543_714_304),
    ),
) + _family(
    styles.QWEN2,
    "Yang et al. 2024, arXiv 2407.10671, table 1; parameters: model cards Qwen/Qwen2",
    152064,
    32768,
    (
        Row("qwen2-7b", "Qwen2-7B", 3584, 28, 28, 4, 18944, 7_615_616_512),
        Row("qwen2-72b", "Qwen2-72B", 8192, 80, 64, 8, 29568, 72_706_203_648),
    ),
)
QWEN_2_5_SOURCE = "Qwen Team 2024, arXiv 2412.15115; parameters: model cards Qwen/Qwen2.5"
QWEN_2_5 = _family(
    TIED_QWEN2,
    QWEN_2_5_SOURCE,
    151936,
    32768,
    (
        Row("qwen2.5-0.5b", "Qwen2.5-0.5B", 896, 24, 14, 2, 4864, 494_032_768),
        Row("qwen2.5-1.5b", "Qwen2.5-1.5B", 1536, 28, 12, 2, 8960, 1_543_714_304),
        Row("qwen2.5-3b", "Qwen2.5-3B", 2048, 36, 16, 2, 11008, 3_085_938_688),
    ),
) + _family(
    styles.QWEN2,
    QWEN_2_5_SOURCE,
    152064,
    32768,
    (
        Row("qwen2.5-7b", "Qwen2.5-7B", 3584, 28, 28, 4, 18944, 7_615_616_512),
        Row("qwen2.5-14b", "Qwen2.5-14B", 5120, 48, 40, 8, 13824, 14_770_033_664),
        Row("qwen2.5-32b", "Qwen2.5-32B", 5120, 64, 40, 8, 27648, 32_763_876_352),
        Row("qwen2.5-72b", "Qwen2.5-72B", 8192, 80, 64, 8, 29568, 72_706_203_648),
    ),
)
QWEN_3_SOURCE = "Yang et al. 2025, arXiv 2505.09388, table 1; parameters: model cards Qwen/Qwen3"
QWEN_3 = _family(
    TIED_QWEN3,
    QWEN_3_SOURCE,
    151936,
    32768,
    (
        Row("qwen3-0.6b", "Qwen3-0.6B", 1024, 28, 16, 8, 3072, 0.6e9, (), 128),
        Row("qwen3-4b", "Qwen3-4B", 2560, 36, 32, 8, 9728, 4_022_468_096, (), 128),
    ),
) + _family(
    styles.QWEN3,
    QWEN_3_SOURCE,
    151936,
    32768,
    (
        Row("qwen3-8b", "Qwen3-8B", 4096, 36, 32, 8, 12288, 8_190_735_360, (), 128),
        Row("qwen3-14b", "Qwen3-14B", 5120, 40, 40, 8, 17408, 14_768_307_200, (), 128),
        Row("qwen3-32b", "Qwen3-32B", 5120, 64, 64, 8, 25600, 32_762_123_264, (), 128),
    ),
)
GEMMA_2 = _family(
    styles.GEMMA2,
    "Riviere et al. 2024, arXiv 2408.00118, tables 1 and 2; parameters: model cards google/gemma-2",
    256000,
    8192,
    (
        Row("gemma-2-2b", "Gemma-2-2B", 2304, 26, 8, 4, 9216, 2_614_341_888, (), 256),
        Row("gemma-2-9b", "Gemma-2-9B", 3584, 42, 16, 8, 14336, 9_241_705_984, (), 256),
        Row("gemma-2-27b", "Gemma-2-27B", 4608, 46, 32, 16, 36864, 27_227_128_320, (), 128),
    ),
)

GEMMA = _family(
    styles.GEMMA,
    "Gemma Team 2024, arXiv 2403.08295, tables 1 and 2; parameters: model cards google/gemma",
    256000,
    8192,
    (
        Row("gemma-2b", "Gemma-2B", 2048, 18, 8, 1, 16384, 2_506_172_416, (), 256),
        Row("gemma-7b", "Gemma-7B", 3072, 28, 16, 16, 24576, 8_537_680_896, (), 256),
    ),
)
PHI_3 = _family(
    styles.LLAMA,
    "Abdin et al. 2024, arXiv 2404.14219; parameters: model card microsoft/Phi-3-mini-4k-instruct",
    32064,
    4096,
    (
        Row(
            "phi-3-mini",
            "Phi-3-mini",
            3072,
            32,
            32,
            32,
            8192,
            3_821_079_552,
            ("phi-3-mini-4k-instruct",),
        ),
    ),
)
OLMO = _family(
    styles.OLMO,
    "Groeneveld et al. 2024, arXiv 2402.00838, table 1; parameters: model card allenai/OLMo-7B-hf",
    50304,
    2048,
    (Row("olmo-7b", "OLMo-7B", 4096, 32, 32, 32, 11008, 6_888_095_744),),
)

MODELS = (
    *LLAMA_1,
    *LLAMA_2,
    *LLAMA_3,
    *LLAMA_3_2,
    *MISTRAL,
    *TINY_LLAMA,
    *QWEN_2,
    *QWEN_2_5,
    *QWEN_3,
    *GEMMA,
    *GEMMA_2,
    *PHI_3,
    *OLMO,
)
