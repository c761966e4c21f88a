"""Mixtures of experts: Mixtral, Qwen, DeepSeek, GPT-OSS."""

from __future__ import annotations

from advisor.zoo.kinds import styles
from advisor.zoo.kinds.decoder import DecoderShape, ExpertShape, decoder
from advisor.zoo.layers.attention import LatentAttention

MIXTRAL_SOURCE = "Jiang et al. 2024, arXiv 2401.04088, table 1; parameters: model card mistralai"
QWEN_3_SOURCE = "Yang et al. 2025, arXiv 2505.09388, table 2; parameters: model cards Qwen/Qwen3"

MODELS = (
    decoder(
        styles.LLAMA,
        DecoderShape(
            vocab=32000,
            hidden=4096,
            layers=32,
            heads=32,
            kv_heads=8,
            inner=14336,
            longest=32768,
            experts=ExpertShape(count=8, per_token=2, inner=14336),
        ),
        name="mixtral-8x7b",
        title="Mixtral-8x7B",
        published_params=46_702_792_704,
        source=MIXTRAL_SOURCE,
    ),
    decoder(
        styles.LLAMA,
        DecoderShape(
            vocab=32768,
            hidden=6144,
            layers=56,
            heads=48,
            kv_heads=8,
            inner=16384,
            longest=65536,
            experts=ExpertShape(count=8, per_token=2, inner=16384),
        ),
        name="mixtral-8x22b",
        title="Mixtral-8x22B",
        published_params=140_630_071_296,
        source="Mistral AI 2024, model card mistralai/Mixtral-8x22B-v0.1",
    ),
    decoder(
        styles.QWEN2,
        DecoderShape(
            vocab=151936,
            hidden=2048,
            layers=24,
            heads=16,
            inner=5632,
            longest=8192,
            experts=ExpertShape(
                count=60, per_token=4, inner=1408, shared_inner=5632, shared_gate=True
            ),
        ),
        name="qwen1.5-moe-a2.7b",
        title="Qwen1.5-MoE-A2.7B",
        published_params=14_315_784_192,
        source="Qwen Team 2024, model card Qwen/Qwen1.5-MoE-A2.7B",
    ),
    decoder(
        styles.QWEN3,
        DecoderShape(
            vocab=151936,
            hidden=2048,
            layers=48,
            heads=32,
            kv_heads=4,
            head_dim=128,
            inner=6144,
            longest=32768,
            experts=ExpertShape(count=128, per_token=8, inner=768),
        ),
        name="qwen3-30b-a3b",
        title="Qwen3-30B-A3B",
        published_params=30_532_122_624,
        source=QWEN_3_SOURCE,
    ),
    decoder(
        styles.QWEN3,
        DecoderShape(
            vocab=151936,
            hidden=4096,
            layers=94,
            heads=64,
            kv_heads=4,
            head_dim=128,
            inner=12288,
            longest=32768,
            experts=ExpertShape(count=128, per_token=8, inner=1536),
        ),
        name="qwen3-235b-a22b",
        title="Qwen3-235B-A22B",
        published_params=235_093_634_560,
        source=QWEN_3_SOURCE,
    ),
    decoder(
        styles.LLAMA,
        DecoderShape(
            vocab=102400,
            hidden=5120,
            layers=60,
            heads=128,
            inner=12288,
            longest=4096,
            latent=LatentAttention(
                hidden=5120,
                heads=128,
                query_rank=1536,
                kv_rank=512,
                plain_dim=128,
                rotary_dim=64,
                value_dim=128,
            ),
            experts=ExpertShape(
                count=160, per_token=6, inner=1536, shared_inner=2 * 1536, dense_layers=1
            ),
        ),
        name="deepseek-v2",
        title="DeepSeek-V2",
        published_params=236e9,
        source="DeepSeek-AI 2024, arXiv 2405.04434, section 3.1.2: 236B, 21B active",
    ),
    decoder(
        styles.LLAMA,
        DecoderShape(
            vocab=129280,
            hidden=7168,
            layers=61,
            heads=128,
            inner=18432,
            longest=4096,
            latent=LatentAttention(
                hidden=7168,
                heads=128,
                query_rank=1536,
                kv_rank=512,
                plain_dim=128,
                rotary_dim=64,
                value_dim=128,
            ),
            experts=ExpertShape(
                count=256,
                per_token=8,
                inner=2048,
                shared_inner=2048,
                router_bias=True,
                dense_layers=3,
            ),
        ),
        name="deepseek-v3",
        title="DeepSeek-V3",
        published_params=671e9,
        source="DeepSeek-AI 2024, arXiv 2412.19437, section 4.2: 671B, 37B active, without the "
        "module that predicts a second token",
        aliases=("deepseek-r1",),
    ),
    *(
        decoder(
            styles.GPT_OSS,
            DecoderShape(
                vocab=201088,
                hidden=2880,
                layers=layers,
                heads=64,
                kv_heads=8,
                head_dim=64,
                inner=2880,
                longest=131072,
                experts=ExpertShape(count=count, per_token=4, inner=2880, router_bias=True),
            ),
            name=name,
            title=title,
            published_params=published,
            source="OpenAI 2025, arXiv 2508.10925, table 1",
        )
        for name, title, layers, count, published in (
            ("gpt-oss-20b", "GPT-OSS-20B", 24, 32, 20.91e9),
            ("gpt-oss-120b", "GPT-OSS-120B", 36, 128, 116.83e9),
        )
    ),
)
