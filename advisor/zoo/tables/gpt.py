"""Decoders with plain feed-forward layers: GPT, OPT, BLOOM, Pythia, Phi-2, MPT."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.zoo.kinds import styles
from advisor.zoo.kinds.decoder import DecoderShape, decoder

if TYPE_CHECKING:
    from advisor.zoo.base import Architecture
    from advisor.zoo.kinds.transformer import DecoderStyle


class Row(NamedTuple):
    """One size of a family; the inner width is 4 × hidden unless given."""

    name: str
    title: str
    hidden: int
    layers: int
    heads: int
    published_params: float
    aliases: tuple[str, ...] = ()
    embedding_width: int | None = None
    vocab: int | None = None


def _family(
    style: DecoderStyle, source: str, vocab: int, longest: int, rows: tuple[Row, ...]
) -> tuple[Architecture, ...]:
    """Return the decoders of one family."""
    return tuple(
        decoder(
            style,
            DecoderShape(
                vocab=row.vocab or vocab,
                hidden=row.hidden,
                layers=row.layers,
                heads=row.heads,
                inner=4 * row.hidden,
                longest=longest,
                embedding_width=row.embedding_width,
            ),
            name=row.name,
            title=row.title,
            published_params=row.published_params,
            source=source,
            aliases=row.aliases,
        )
        for row in rows
    )


GPT_2 = _family(
    styles.GPT2,
    "Radford et al. 2019; parameters: model cards openai-community/gpt2",
    50257,
    1024,
    (
        Row(
            "gpt-2-small", "GPT-2 small", 768, 12, 12, 124_439_808, ("gpt2", "gpt2-124m", "nanogpt")
        ),
        Row("gpt-2-medium", "GPT-2 medium", 1024, 24, 16, 354_823_168, ("gpt2-355m",)),
        Row("gpt-2-large", "GPT-2 large", 1280, 36, 20, 774_030_080, ("gpt2-774m",)),
        Row("gpt-2-xl", "GPT-2 XL", 1600, 48, 25, 1_557_611_200, ("gpt2-1.5b",)),
    ),
)
GPT_3 = _family(
    styles.GPT2,
    "Brown et al. 2020, arXiv 2005.14165, table 2.1",
    50257,
    2048,
    (
        Row("gpt-3-6.7b", "GPT-3 6.7B", 4096, 32, 32, 6.7e9),
        Row("gpt-3-175b", "GPT-3 175B", 12288, 96, 96, 175e9, ("gpt3", "gpt-3")),
    ),
)
OPT = _family(
    styles.OPT,
    "Zhang et al. 2022, arXiv 2205.01068, table 1; parameters: model cards facebook/opt",
    50272,
    2048,
    (
        Row("opt-125m", "OPT-125M", 768, 12, 12, 125_239_296),
        Row("opt-1.3b", "OPT-1.3B", 2048, 24, 32, 1_315_758_080),
        Row("opt-2.7b", "OPT-2.7B", 2560, 32, 32, 2_651_596_800),
        Row("opt-6.7b", "OPT-6.7B", 4096, 32, 32, 6_658_473_984),
        Row("opt-13b", "OPT-13B", 5120, 40, 40, 12_853_473_280),
        Row("opt-30b", "OPT-30B", 7168, 48, 56, 29_974_540_288),
        Row("opt-66b", "OPT-66B", 9216, 64, 72, 66e9),
    ),
)
OPT_350M = _family(
    styles.OPT_350M,
    "Zhang et al. 2022, arXiv 2205.01068; post-norm, embedding of width 512; parameters: "
    "model card facebook/opt-350m",
    50272,
    2048,
    (Row("opt-350m", "OPT-350M", 1024, 24, 16, 331_196_416, (), 512),),
)
BLOOM = _family(
    styles.BLOOM,
    "Le Scao et al. 2022, arXiv 2211.05100, table 3; parameters: model cards bigscience/bloom",
    250880,
    2048,
    (
        Row("bloom-560m", "BLOOM-560M", 1024, 24, 16, 559_214_592),
        Row("bloom-1.1b", "BLOOM-1.1B", 1536, 24, 16, 1_065_314_304, ("bloom-1b1",)),
        Row("bloom-1.7b", "BLOOM-1.7B", 2048, 24, 16, 1_722_408_960, ("bloom-1b7",)),
        Row("bloom-3b", "BLOOM-3B", 2560, 30, 32, 3_002_557_440),
        Row("bloom-7.1b", "BLOOM-7.1B", 4096, 30, 32, 7_069_016_064, ("bloom-7b1",)),
        Row("bloom-176b", "BLOOM-176B", 14336, 70, 112, 176_247_271_424, ("bloom",)),
    ),
)
PYTHIA = _family(
    styles.GPT_NEOX,
    "Biderman et al. 2023, arXiv 2304.01373, table 1; parameters: model cards EleutherAI/pythia",
    50304,
    2048,
    (
        Row("pythia-70m", "Pythia-70M", 512, 6, 8, 70_426_624),
        Row("pythia-160m", "Pythia-160M", 768, 12, 12, 162_322_944),
        Row("pythia-410m", "Pythia-410M", 1024, 24, 16, 405_334_016),
        Row("pythia-1b", "Pythia-1B", 2048, 16, 8, 1_011_781_632),
        Row("pythia-1.4b", "Pythia-1.4B", 2048, 24, 16, 1_414_647_808),
        Row("pythia-2.8b", "Pythia-2.8B", 2560, 32, 32, 2_775_208_960),
        Row("pythia-6.9b", "Pythia-6.9B", 4096, 32, 32, 6_857_302_016, (), None, 50432),
        Row("pythia-12b", "Pythia-12B", 5120, 36, 40, 11_846_072_320, (), None, 50688),
    ),
)
GPT_NEO = _family(
    styles.GPT_NEO,
    "EleutherAI 2021, doi 10.5281/zenodo.5297715; parameters: model cards EleutherAI/gpt-neo",
    50257,
    2048,
    (
        Row("gpt-neo-125m", "GPT-Neo-125M", 768, 12, 12, 125_198_592),
        Row("gpt-neo-1.3b", "GPT-Neo-1.3B", 2048, 24, 16, 1_315_575_808),
        Row("gpt-neo-2.7b", "GPT-Neo-2.7B", 2560, 32, 20, 2_651_307_520, ("gpt-neo-2.7",)),
    ),
)
GPT_J = _family(
    styles.GPT_J,
    "Wang and Komatsuzaki 2021, model card EleutherAI/gpt-j-6b",
    50400,
    2048,
    (Row("gpt-j-6b", "GPT-J-6B", 4096, 28, 16, 6_053_381_344, ("gpt-j",)),),
)
GPT_NEOX = _family(
    styles.GPT_NEOX,
    "Black et al. 2022, arXiv 2204.06745; parameters: model card EleutherAI/gpt-neox-20b",
    50432,
    2048,
    (Row("gpt-neox-20b", "GPT-NeoX-20B", 6144, 44, 64, 20_554_567_680, ("gpt-neox",)),),
)
PHI_2 = _family(
    styles.PHI,
    "Microsoft 2023, model card microsoft/phi-2",
    51200,
    2048,
    (Row("phi-2", "Phi-2", 2560, 32, 32, 2_779_683_840),),
)
MPT = _family(
    styles.MPT,
    "MosaicML 2023, model card mosaicml/mpt-7b",
    50432,
    2048,
    (Row("mpt-7b", "MPT-7B", 4096, 32, 32, 6.7e9),),
) + _family(
    styles.MPT,
    "MosaicML 2023, model card mosaicml/mpt-30b",
    50432,
    8192,
    (Row("mpt-30b", "MPT-30B", 7168, 48, 64, 29.95e9),),
)

MODELS = (
    *GPT_2,
    *GPT_3,
    *OPT,
    *OPT_350M,
    *BLOOM,
    *PYTHIA,
    *GPT_NEO,
    *GPT_J,
    *GPT_NEOX,
    *PHI_2,
    *MPT,
)
