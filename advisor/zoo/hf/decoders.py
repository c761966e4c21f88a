"""Which field of a decoder's configuration means what, by ``model_type``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from advisor.zoo.hf.fields import LARGEST_LAYERS, LARGEST_LENGTH, LARGEST_VOCAB, Fields
from advisor.zoo.kinds import styles
from advisor.zoo.kinds.decoder import (
    LONGEST_DEFAULT_SEQUENCE,
    DecoderShape,
    ExpertShape,
    decoder,
)
from advisor.zoo.kinds.transformer import DecoderStyle, LanguageModel
from advisor.zoo.layers.attention import LatentAttention

PLAIN_EXPANSION: Final = 4
"""Inner width over hidden where a configuration does not tell."""
EXPERT_FIELDS: Final = ("num_local_experts", "n_routed_experts", "num_experts")


@dataclass(frozen=True, kw_only=True, slots=True)
class DecoderFields:
    """The style of a model type and the names of its fields, usual ones by default.

    Parameters
    ----------
    style : DecoderStyle
        What cannot be read from the configuration.
    hidden, layers, heads, kv_heads, inner, longest : tuple of str
        Names of the field, the first that is present counts.
    inner_given : bool
        Whether the inner width must be given, or is 4 × hidden when missing.
    head_dim : int, optional
        Width of a head unless the configuration tells; None: hidden / heads.
    experts, expert_inner, shared_inner : tuple of str
        Names of the fields of a mixture of experts; empty: there is none.
    shared_gate, router_bias : bool
        See `advisor.zoo.layers.feed_forward.Experts`.
    latent : bool
        Whether attention is multi-head latent.
    """

    style: DecoderStyle
    hidden: tuple[str, ...] = ("hidden_size",)
    layers: tuple[str, ...] = ("num_hidden_layers",)
    heads: tuple[str, ...] = ("num_attention_heads",)
    kv_heads: tuple[str, ...] = ("num_key_value_heads",)
    inner: tuple[str, ...] = ("intermediate_size",)
    longest: tuple[str, ...] = ("max_position_embeddings",)
    inner_given: bool = True
    head_dim: int | None = None
    experts: tuple[str, ...] = ()
    expert_inner: tuple[str, ...] = ("moe_intermediate_size",)
    shared_inner: tuple[str, ...] = ()
    shared_gate: bool = False
    router_bias: bool = False
    latent: bool = False


OLD_NAMES: Final = DecoderFields(
    style=styles.GPT2,
    hidden=("n_embd", "hidden_size", "n_embed"),
    layers=("n_layer", "num_hidden_layers"),
    heads=("n_head", "num_attention_heads"),
    inner=("n_inner",),
    longest=("n_positions",),
    inner_given=False,
)
LLAMA: Final = DecoderFields(style=styles.LLAMA)
DEEPSEEK: Final = DecoderFields(
    style=styles.LLAMA,
    experts=("n_routed_experts",),
    latent=True,
)
DECODERS: Final[dict[str, DecoderFields]] = {
    "gpt2": OLD_NAMES,
    "gptj": replace(OLD_NAMES, style=styles.GPT_J),
    "codegen": replace(OLD_NAMES, style=styles.GPT_J),
    "gpt_bigcode": OLD_NAMES,
    "bloom": replace(OLD_NAMES, style=styles.BLOOM, longest=("seq_length",)),
    "gpt_neo": DecoderFields(
        style=styles.GPT_NEO, layers=("num_layers",), heads=("num_heads",), inner_given=False
    ),
    "gpt_neox": DecoderFields(style=styles.GPT_NEOX),
    "opt": DecoderFields(style=styles.OPT, inner=("ffn_dim",)),
    "falcon": DecoderFields(style=styles.FALCON, inner=("ffn_hidden_size",), inner_given=False),
    "mpt": DecoderFields(
        style=styles.MPT,
        hidden=("d_model",),
        layers=("n_layers",),
        heads=("n_heads",),
        inner_given=False,
        longest=("max_seq_len",),
    ),
    "phi": DecoderFields(style=styles.PHI),
    "phi3": LLAMA,
    "llama": LLAMA,
    "mistral": LLAMA,
    "granite": LLAMA,
    "qwen2": DecoderFields(style=styles.QWEN2),
    "qwen3": DecoderFields(style=styles.QWEN3, head_dim=128),
    "gemma": DecoderFields(style=styles.GEMMA, head_dim=256),
    "gemma2": DecoderFields(style=styles.GEMMA2, head_dim=256),
    "olmo": DecoderFields(style=styles.OLMO),
    "stablelm": DecoderFields(style=styles.STABLELM),
    "starcoder2": DecoderFields(style=styles.STARCODER2),
    "mixtral": DecoderFields(
        style=styles.LLAMA, experts=("num_local_experts",), expert_inner=("intermediate_size",)
    ),
    "qwen2_moe": DecoderFields(
        style=styles.QWEN2,
        experts=("num_experts",),
        shared_inner=("shared_expert_intermediate_size",),
        shared_gate=True,
    ),
    "qwen3_moe": DecoderFields(style=styles.QWEN3, head_dim=128, experts=("num_experts",)),
    "gpt_oss": DecoderFields(
        style=styles.GPT_OSS,
        experts=("num_local_experts",),
        expert_inner=("intermediate_size",),
        router_bias=True,
    ),
    "deepseek_v2": DEEPSEEK,
    "deepseek_v3": replace(DEEPSEEK, router_bias=True),
}


def generic_fields(fields: Fields) -> DecoderFields:
    """Return how to read a model type that is not known: as Llama, Mixtral or DeepSeek."""
    if fields.has("kv_lora_rank"):
        return DEEPSEEK
    experts = tuple(name for name in EXPERT_FIELDS if fields.has(name))
    if not experts:
        return LLAMA
    return replace(LLAMA, experts=experts, expert_inner=("moe_intermediate_size", *LLAMA.inner))


def read_decoder(
    fields: Fields, names: DecoderFields, *, name: str, source: str, assumptions: tuple[str, ...]
) -> LanguageModel:
    """Return the decoder that a configuration describes.

    Raises
    ------
    InvalidInputError
        If fields are missing or wrong; the message names all of them.
    """
    style = _style(fields, names.style)
    shape = _shape(fields, names, longest_given=style.learned_positions)
    fields.check()
    return decoder(style, shape, name=name, title=name, source=source, assumptions=assumptions)


def _style(fields: Fields, style: DecoderStyle) -> DecoderStyle:
    """Return `style` with what the configuration says about biases, tying and norms."""
    attention_bias = fields.flag("attention_bias", default=False)
    bias = fields.flag("bias", default=False) or fields.flag("use_bias", default=False)
    qkv_bias = fields.flag("use_qkv_bias", default=style.qkv_bias)
    new_falcon = fields.flag("new_decoder_architecture", default=False)
    return replace(
        style,
        tied=fields.flag("tie_word_embeddings", default=style.tied),
        qkv_bias=qkv_bias or attention_bias or bias,
        out_bias=style.out_bias or attention_bias or bias,
        ffn_bias=style.ffn_bias or fields.flag("mlp_bias", default=False) or bias,
        parallel=fields.flag("use_parallel_residual", default=style.parallel),
        norms_per_block=2 if new_falcon else style.norms_per_block,
        final_norm=style.final_norm and fields.flag("do_layer_norm_before", default=True),
    )


def _shape(fields: Fields, names: DecoderFields, *, longest_given: bool) -> DecoderShape:
    hidden = fields.count(*names.hidden)
    layers = fields.count(*names.layers, most=LARGEST_LAYERS)
    heads = fields.count(*names.heads)
    expansion = fields.count("expansion_ratio", default=PLAIN_EXPANSION)
    inner_default = None if names.inner_given else expansion * hidden
    longest_default = None if longest_given else LONGEST_DEFAULT_SEQUENCE
    latent = _latent(fields, hidden, heads) if names.latent else None
    embedding_width = fields.count("word_embed_proj_dim", default=hidden)
    return DecoderShape(
        vocab=fields.count("vocab_size", most=LARGEST_VOCAB),
        hidden=hidden,
        layers=layers,
        heads=heads,
        kv_heads=_kv_heads(fields, names, heads),
        head_dim=None if latent else _head_dim(fields, names, hidden, heads),
        inner=fields.count(*names.inner, default=inner_default),
        longest=fields.count(*names.longest, most=LARGEST_LENGTH, default=longest_default),
        embedding_width=embedding_width if embedding_width != hidden else None,
        latent=latent,
        experts=_experts(fields, names, layers) if names.experts else None,
    )


def _kv_heads(fields: Fields, names: DecoderFields, heads: int) -> int:
    """Return key and value heads: one for multi-query, as many as heads unless given."""
    one_for_all = fields.flag("multi_query", default=False)
    grouped = fields.flag("new_decoder_architecture", default=False)
    if one_for_all and not grouped:
        return 1
    kv_heads = fields.count(*names.kv_heads, "num_kv_heads", default=heads)
    fields.require(
        heads % kv_heads == 0,
        f"{heads} attention heads cannot share {kv_heads} key and value heads evenly",
    )
    return kv_heads


def _head_dim(fields: Fields, names: DecoderFields, hidden: int, heads: int) -> int:
    if fields.has("head_dim") or names.head_dim:
        return fields.count("head_dim", default=names.head_dim)
    fields.require_heads(hidden, heads)
    return max(1, hidden // heads)


def _latent(fields: Fields, hidden: int, heads: int) -> LatentAttention:
    return LatentAttention(
        hidden=hidden,
        heads=heads,
        query_rank=fields.count("q_lora_rank", default=0),
        kv_rank=fields.count("kv_lora_rank"),
        plain_dim=fields.count("qk_nope_head_dim"),
        rotary_dim=fields.count("qk_rope_head_dim"),
        value_dim=fields.count("v_head_dim"),
    )


def _experts(fields: Fields, names: DecoderFields, layers: int) -> ExpertShape:
    count = fields.count(*names.experts)
    per_token = fields.count("num_experts_per_tok", "experts_per_token")
    inner = fields.count(*names.expert_inner)
    shared = fields.count("n_shared_experts", default=0, least=0) * inner
    if names.shared_inner:
        shared = fields.count(*names.shared_inner)
    step = fields.count("decoder_sparse_step", default=1, most=LARGEST_LAYERS)
    first = fields.count("first_k_dense_replace", default=0, least=0, most=LARGEST_LAYERS)
    fields.require(per_token <= count, f"a token cannot use {per_token} of only {count} experts")
    fields.require(
        max(first, step - 1) < layers, f"all {layers} layers would be dense, none with experts"
    )
    return ExpertShape(
        count=count,
        per_token=per_token,
        inner=inner,
        shared_inner=shared,
        shared_gate=names.shared_gate,
        router_bias=names.router_bias,
        dense_layers=max(first, layers - layers // step),
    )
