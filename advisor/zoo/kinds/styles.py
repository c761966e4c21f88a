"""How the families of decoders are built, by the ``model_type`` of their configuration.

Each entry is a fact of the family's paper or reference implementation.
"""

from __future__ import annotations

from dataclasses import replace

from advisor.zoo.kinds.transformer import DecoderStyle

GPT2 = DecoderStyle(
    qkv_bias=True, out_bias=True, ffn_bias=True, learned_positions=True, tied=True, dropout=True
)
OPT = replace(GPT2, relu=True, spare_positions=2)
BLOOM = DecoderStyle(qkv_bias=True, out_bias=True, ffn_bias=True, embedding_norm=True, tied=True)
GPT_NEO = replace(GPT2, qkv_bias=False)  # output projection has a bias all the same
GPT_NEOX = DecoderStyle(qkv_bias=True, out_bias=True, ffn_bias=True, parallel=True)
GPT_J = DecoderStyle(ffn_bias=True, head_bias=True, norms_per_block=1, parallel=True)
PHI = DecoderStyle(
    qkv_bias=True,
    out_bias=True,
    ffn_bias=True,
    head_bias=True,
    norms_per_block=1,
    parallel=True,
)
FALCON = DecoderStyle(norms_per_block=1, parallel=True, tied=True)
MPT = DecoderStyle(norm_vectors=1, tied=True)
LLAMA = DecoderStyle(gated=True, norm_vectors=1)
QWEN2 = replace(LLAMA, qkv_bias=True)
QWEN3 = replace(LLAMA, head_norm=True)
GEMMA = replace(LLAMA, tied=True)
GEMMA2 = replace(GEMMA, norms_per_block=4)
OLMO = replace(LLAMA, norm_vectors=0)
OPT_350M = replace(OPT, final_norm=False)
STABLELM = DecoderStyle(gated=True)
STARCODER2 = DecoderStyle(qkv_bias=True, out_bias=True, ffn_bias=True, tied=True)
GPT_OSS = replace(LLAMA, qkv_bias=True, out_bias=True, ffn_bias=True)
