"""Hugging Face configurations: the facts of well-known models give the models of the zoo."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.core.errors import InvalidInputError
from advisor.zoo import from_hf_config, get

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "max_position_embeddings": 4096,
    "vocab_size": 32000,
    "tie_word_embeddings": False,
}
DEEPSEEK_V3 = {
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "vocab_size": 129280,
    "max_position_embeddings": 163840,
}
CONFIGS: dict[str, dict[str, Any]] = {
    "llama-2-7b": LLAMA,
    "llama-3.2-1b": LLAMA
    | {
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "num_key_value_heads": 8,
        "head_dim": 64,
        "vocab_size": 128256,
        "tie_word_embeddings": True,
    },
    "mistral-7b": LLAMA
    | {"model_type": "mistral", "intermediate_size": 14336, "num_key_value_heads": 8},
    "mixtral-8x7b": LLAMA
    | {
        "model_type": "mixtral",
        "intermediate_size": 14336,
        "num_key_value_heads": 8,
        "num_local_experts": 8,
        "num_experts_per_tok": 2,
    },
    "qwen2.5-7b": LLAMA
    | {
        "model_type": "qwen2",
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "vocab_size": 152064,
    },
    "qwen3-8b": LLAMA
    | {
        "model_type": "qwen3",
        "intermediate_size": 12288,
        "num_hidden_layers": 36,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 151936,
        "attention_bias": False,
    },
    "qwen3-30b-a3b": LLAMA
    | {
        "model_type": "qwen3_moe",
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "moe_intermediate_size": 768,
        "num_hidden_layers": 48,
        "num_attention_heads": 32,
        "num_key_value_heads": 4,
        "head_dim": 128,
        "num_experts": 128,
        "num_experts_per_tok": 8,
        "decoder_sparse_step": 1,
        "vocab_size": 151936,
    },
    "qwen1.5-moe-a2.7b": LLAMA
    | {
        "model_type": "qwen2_moe",
        "hidden_size": 2048,
        "intermediate_size": 5632,
        "moe_intermediate_size": 1408,
        "shared_expert_intermediate_size": 5632,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "num_experts": 60,
        "num_experts_per_tok": 4,
        "vocab_size": 151936,
    },
    "gpt-oss-20b": LLAMA
    | {
        "model_type": "gpt_oss",
        "hidden_size": 2880,
        "intermediate_size": 2880,
        "num_hidden_layers": 24,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "head_dim": 64,
        "num_local_experts": 32,
        "num_experts_per_tok": 4,
        "attention_bias": True,
        "vocab_size": 201088,
    },
    "deepseek-v3": DEEPSEEK_V3,
    "gemma-2-9b": {
        "model_type": "gemma2",
        "hidden_size": 3584,
        "intermediate_size": 14336,
        "num_hidden_layers": 42,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 256,
        "vocab_size": 256000,
        "max_position_embeddings": 8192,
    },
    "gemma-7b": {
        "model_type": "gemma",
        "hidden_size": 3072,
        "intermediate_size": 24576,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "vocab_size": 256000,
    },
    "olmo-7b": LLAMA | {"model_type": "olmo", "vocab_size": 50304},
    "phi-2": {
        "model_type": "phi",
        "hidden_size": 2560,
        "intermediate_size": 10240,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": None,
        "vocab_size": 51200,
        "max_position_embeddings": 2048,
    },
    "phi-3-mini": LLAMA
    | {
        "model_type": "phi3",
        "hidden_size": 3072,
        "intermediate_size": 8192,
        "vocab_size": 32064,
    },
    "gpt-2-xl": {
        "model_type": "gpt2",
        "n_embd": 1600,
        "n_layer": 48,
        "n_head": 25,
        "n_positions": 1024,
        "vocab_size": 50257,
    },
    "gpt-neo-2.7b": {
        "model_type": "gpt_neo",
        "hidden_size": 2560,
        "num_layers": 32,
        "num_heads": 20,
        "intermediate_size": None,
        "max_position_embeddings": 2048,
        "vocab_size": 50257,
    },
    "gpt-j-6b": {
        "model_type": "gptj",
        "n_embd": 4096,
        "n_layer": 28,
        "n_head": 16,
        "n_inner": None,
        "n_positions": 2048,
        "vocab_size": 50400,
        "tie_word_embeddings": False,
    },
    "gpt-neox-20b": {
        "model_type": "gpt_neox",
        "hidden_size": 6144,
        "intermediate_size": 24576,
        "num_hidden_layers": 44,
        "num_attention_heads": 64,
        "max_position_embeddings": 2048,
        "vocab_size": 50432,
        "use_parallel_residual": True,
        "tie_word_embeddings": False,
    },
    "opt-350m": {
        "model_type": "opt",
        "hidden_size": 1024,
        "word_embed_proj_dim": 512,
        "ffn_dim": 4096,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "max_position_embeddings": 2048,
        "do_layer_norm_before": False,
        "vocab_size": 50272,
    },
    "opt-66b": {
        "model_type": "opt",
        "hidden_size": 9216,
        "word_embed_proj_dim": 9216,
        "ffn_dim": 36864,
        "num_hidden_layers": 64,
        "num_attention_heads": 72,
        "max_position_embeddings": 2048,
        "do_layer_norm_before": True,
        "vocab_size": 50272,
    },
    "bloom-560m": {
        "model_type": "bloom",
        "n_embed": 1024,
        "n_layer": 24,
        "num_attention_heads": 16,
        "seq_length": 2048,
        "vocab_size": 250880,
    },
    "mpt-30b": {
        "model_type": "mpt",
        "d_model": 7168,
        "n_layers": 48,
        "n_heads": 64,
        "expansion_ratio": 4,
        "max_seq_len": 8192,
        "no_bias": True,
        "vocab_size": 50432,
    },
    "bert-large": {
        "model_type": "bert",
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
        "vocab_size": 30522,
    },
    "roberta-base": {
        "model_type": "roberta",
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "max_position_embeddings": 514,
        "type_vocab_size": 1,
        "vocab_size": 50265,
    },
    "distilbert-base": {
        "model_type": "distilbert",
        "dim": 768,
        "hidden_dim": 3072,
        "n_layers": 6,
        "n_heads": 12,
        "max_position_embeddings": 512,
        "vocab_size": 30522,
    },
    "t5-3b": {
        "model_type": "t5",
        "d_model": 1024,
        "d_kv": 128,
        "d_ff": 16384,
        "num_layers": 24,
        "num_heads": 32,
        "relative_attention_num_buckets": 32,
        "vocab_size": 32128,
    },
    "whisper-small": {
        "model_type": "whisper",
        "d_model": 768,
        "encoder_layers": 12,
        "decoder_layers": 12,
        "encoder_attention_heads": 12,
        "encoder_ffn_dim": 3072,
        "decoder_ffn_dim": 3072,
        "num_mel_bins": 80,
        "max_source_positions": 1500,
        "max_target_positions": 448,
        "vocab_size": 51865,
    },
    "vit-b-16": {
        "model_type": "vit",
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "image_size": 224,
        "patch_size": 16,
    },
    "resnet-50": {
        "model_type": "resnet",
        "depths": [3, 4, 6, 3],
        "hidden_sizes": [256, 512, 1024, 2048],
        "embedding_size": 64,
        "layer_type": "bottleneck",
        "id2label": {str(label): "x" for label in range(1000)},
    },
    "resnet-18": {
        "model_type": "resnet",
        "depths": [2, 2, 2, 2],
        "hidden_sizes": [64, 128, 256, 512],
        "embedding_size": 64,
        "layer_type": "basic",
    },
    "convnext-tiny": {
        "model_type": "convnext",
        "depths": [3, 3, 9, 3],
        "hidden_sizes": [96, 192, 384, 768],
    },
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_configuration_gives_the_model_of_the_zoo(name: str) -> None:
    known = get(name)
    size = known.default_sample_size
    read = from_hf_config(json.dumps(CONFIGS[name]), name=name)
    without = {"source": ""}
    assert read.name == name
    assert read.model(size).model_copy(update=without) == known.model(size).model_copy(
        update=without
    )


def test_v1_1_of_t5_has_gated_layers_and_a_head_of_its_own() -> None:
    """google/t5-v1_1-base: 247,577,856 parameters (model card)."""
    config = {
        "model_type": "t5",
        "d_model": 768,
        "d_kv": 64,
        "d_ff": 2048,
        "num_layers": 12,
        "num_decoder_layers": 12,
        "num_heads": 12,
        "feed_forward_proj": "gated-gelu",
        "tie_word_embeddings": False,
        "vocab_size": 32128,
    }
    assert from_hf_config(json.dumps(config)).params == 247_577_856


def test_multi_query_attention_of_falcon() -> None:
    """tiiuae/falcon-7b: 7.22B with an untied head (model card)."""
    config = {
        "model_type": "falcon",
        "hidden_size": 4544,
        "num_hidden_layers": 32,
        "num_attention_heads": 71,
        "multi_query": True,
        "new_decoder_architecture": False,
        "parallel_attn": True,
        "bias": False,
        "vocab_size": 65024,
        "tie_word_embeddings": False,
    }
    falcon = from_hf_config(json.dumps(config))
    assert falcon.model().kv_heads == 1
    assert falcon.params == pytest.approx(7.22e9, rel=0.001)


def test_names_come_from_the_argument_the_file_or_the_type() -> None:
    text = json.dumps(LLAMA)
    named = from_hf_config(text, name="meta-llama/Llama-2-7b-hf")
    assert (named.name, named.title) == ("llama-2-7b-hf", "Llama-2-7b-hf")
    self_named = from_hf_config(json.dumps(LLAMA | {"_name_or_path": "./out/My Model/"}))
    assert (self_named.name, self_named.title) == ("my-model", "My Model")
    unnamed = from_hf_config(text)
    assert (unnamed.name, unnamed.title) == ("llama-6.74b", "llama 6.74B")


def test_an_unknown_type_with_the_usual_fields_is_read_as_llama_and_says_so() -> None:
    read = from_hf_config(json.dumps(LLAMA | {"model_type": "novel"}))
    assert read.params == get("llama-2-7b").params
    assert read.assumptions == ("model type “novel” is not known: read as a Llama-like decoder",)


def test_unknown_types_with_experts_or_latent_attention_are_read_as_such() -> None:
    sparse = CONFIGS["mixtral-8x7b"] | {"model_type": "novel"}
    assert from_hf_config(json.dumps(sparse)).params == get("mixtral-8x7b").params
    latent = DEEPSEEK_V3 | {"model_type": "kimi_k2"}
    assert from_hf_config(json.dumps(latent)).params == pytest.approx(671e9, rel=0.001)


def test_the_language_part_of_a_multimodal_configuration_is_read() -> None:
    read = from_hf_config(json.dumps({"model_type": "llava", "text_config": LLAMA}))
    assert read.params == get("llama-2-7b").params
    assert "only the language part" in read.assumptions[0]


def test_long_contexts_are_trained_with_shorter_sequences() -> None:
    read = from_hf_config(json.dumps(LLAMA | {"max_position_embeddings": 131072}))
    assert read.default_sample_size == 8192
    assert read.model(131072).tokens_per_sample == 131072


def test_all_missing_fields_are_named() -> None:
    config = {"model_type": "llama", "hidden_size": 4096}
    with pytest.raises(InvalidInputError) as caught:
        from_hf_config(json.dumps(config))
    for field in ("num_hidden_layers", "num_attention_heads", "vocab_size", "intermediate_size"):
        assert f"“{field}” is missing" in str(caught.value)
    assert "hidden_size" not in str(caught.value)


@pytest.mark.parametrize("value", [0, -1, 1.5, 1e30, "4096", True, [4096], {}, 10**12])
@pytest.mark.parametrize("field", ["hidden_size", "num_hidden_layers", "vocab_size"])
def test_absurd_values_are_named(field: str, value: object) -> None:
    with pytest.raises(InvalidInputError, match=f"“{field}” must be a whole number"):
        from_hf_config(json.dumps(LLAMA | {field: value}))


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_none_are_named(constant: str) -> None:
    text = json.dumps(LLAMA).replace("11008", constant)
    with pytest.raises(InvalidInputError, match="“intermediate_size” must be a whole number"):
        from_hf_config(text)


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("llama-2-7b", {"num_attention_heads": 33}, "cannot be divided among 33"),
        ("llama-2-7b", {"num_key_value_heads": 5}, "cannot share 5"),
        ("llama-2-7b", {"tie_word_embeddings": "yes"}, "must be true or false"),
        ("mixtral-8x7b", {"num_experts_per_tok": 9}, "cannot use 9 of only 8"),
        ("deepseek-v3", {"first_k_dense_replace": 61}, "all 61 layers would be dense"),
        ("gpt-2-xl", {"n_positions": None}, "“n_positions” is missing"),
        ("bert-large", {"num_attention_heads": 15}, "cannot be divided among 15 heads"),
        ("vit-b-16", {"num_attention_heads": 7}, "cannot be divided among 7 heads"),
        ("vit-b-16", {"patch_size": 15}, "cannot be cut into patches of 15"),
        ("whisper-small", {"encoder_attention_heads": 7}, "cannot be divided among 7 heads"),
        ("resnet-50", {"depths": [3, 4]}, "must have the same length"),
        ("resnet-50", {"depths": "deep"}, "list of up to 16 whole numbers"),
        ("resnet-50", {"depths": [3, 4, 6, -3]}, "list of up to 16 whole numbers"),
        ("resnet-50", {"layer_type": "odd"}, "“bottleneck” or “basic”"),
        ("resnet-50", {"depths": [10**6, 4, 6, 3]}, "whole numbers from 1 to 1,000"),
        ("resnet-50", {"hidden_sizes": [2, 4, 8, 16]}, "must be multiples of 4"),
        ("convnext-tiny", {"hidden_sizes": [96]}, "must have the same length"),
        ("llama-2-7b", {"hidden_size": 10**6, "num_hidden_layers": 10**4}, "more than can be"),
    ],
)
def test_what_does_not_fit_together_is_said(
    kind: str, change: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        from_hf_config(json.dumps(CONFIGS[kind] | change))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("  \n ", "empty"),
        ("{", "not JSON"),
        ("hidden_size = 4096", "not JSON"),
        ("[1, 2]", "JSON object is needed"),
        ("7", "JSON object is needed"),
        ("null", "JSON object is needed"),
        ('{"a": ' * 100_000, "nested too deeply"),
        ('{"hidden_size": ' + "9" * 5000 + "}", "a number is too long"),
        ("{" + " " * 1_000_001 + "}", "are read at most"),
        ("{}", "“model_type” and the usual fields"),
        ('{"model_type": "novel"}', "“novel” is not known"),
        ('{"model_type": ["llama"]}', "“model_type” and the usual fields"),
    ],
)
def test_what_is_no_configuration_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        from_hf_config(text)


def test_messages_stay_short_whatever_is_pasted() -> None:
    with pytest.raises(InvalidInputError) as caught:
        from_hf_config(json.dumps(LLAMA | {"hidden_size": "x" * 100_000}))
    assert len(str(caught.value)) < 400
    with pytest.raises(InvalidInputError) as caught:
        from_hf_config(json.dumps({"model_type": "x" * 100_000}))
    assert len(str(caught.value)) < 400


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


@given(name=st.sampled_from(sorted(CONFIGS)), data=st.data())
@settings(max_examples=150, deadline=None)
def test_a_damaged_configuration_is_read_or_refused(name: str, data: st.DataObject) -> None:
    config = dict(CONFIGS[name])
    field = data.draw(st.sampled_from(sorted(config)))
    config[field] = data.draw(json_values)
    with contextlib.suppress(InvalidInputError):  # anything else is a mistake of ours
        assert from_hf_config(json.dumps(config)).params > 0


@given(text=st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_any_text_is_refused_politely(text: str) -> None:
    with pytest.raises(InvalidInputError):
        from_hf_config(text)
