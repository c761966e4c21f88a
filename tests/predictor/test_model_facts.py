"""Facts of networks, however a source spells the name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from run_examples import CONVNET, one

from advisor.predictor.model_facts import facts_of_models
from advisor.zoo import get


def fact(label: str, name: str) -> float:
    return float(facts_of_models(pd.Series([label]))[name].iloc[0])


@pytest.mark.parametrize(
    ("label", "layers"),
    [
        ("BERT-base SQuAD fine-tune", 12), ("bert_large pretrain", 24),
        ("BERT-large [open division]", 24), ("google-bert/bert-large-uncased", 24),
        ("meta-llama/Llama-2-7b-hf", 32), ("EleutherAI/pythia-6.9b", 32), ("mnasnet1_0", 53),
        ("InceptionV3", 95),
    ],
)  # fmt: skip
def test_a_network_is_known_however_its_name_is_written(label, layers) -> None:
    assert fact(label, "layers") == layers


@pytest.mark.parametrize(
    ("label", "params"),
    [("Somebody-7B", 7e9), ("GPT 126M", 126e6), ("a 1.3b model", 1.3e9), ("net_13b_chat", 13e9)],
)
def test_a_size_in_the_name_is_the_parameter_count(label, params) -> None:
    assert fact(label, "params") == params


@pytest.mark.parametrize("label", ["", "8x7B", "unheard of", "resnet50b", "1024", "rev3beta"])
def test_what_says_nothing_of_a_network_gives_no_facts(label) -> None:
    assert facts_of_models(pd.Series([label])).isna().all(axis=None)


def test_the_look_up_and_the_masked_head_of_an_encoder_cost_little() -> None:
    run = {"family": "encoder", "params": np.nan, "layers": np.nan, "hidden": np.nan}
    for label, name in (("BERT-base", "bert-base"), ("BERT-large", "bert-large")):
        counted = get(name).model(512).forward_flops_per_sample
        found = one("forward_flops_per_sample", model=label, sample_size=512.0, **run)
        assert found == pytest.approx(counted, rel=0.01)


def test_the_layers_of_an_image_network_are_those_of_its_table() -> None:
    assert one("layers", **CONVNET | {"model": "mnasnet0_5"}) == 53
    assert one("layers", **CONVNET | {"model": "CM-DARE Res15", "sample_size": 32.0}) == 25


def test_facts_keep_the_index_of_their_labels() -> None:
    labels = pd.Series(["mnasnet1_0", "unheard of", "mnasnet1_0"], index=[5, 2, 9])
    assert facts_of_models(labels)["layers"].index.tolist() == [5, 2, 9]
    assert facts_of_models(labels)["layers"].fillna(0).tolist() == [53, 0, 53]


def test_the_scores_of_a_diffusion_network_are_kept_apart_from_its_activations() -> None:
    run = CONVNET | {"model": "Stable Diffusion v2", "family": "diffusion", "sample_size": 512.0}
    network = get("stable-diffusion-2").model(512)
    for name in ("activation_elements_per_sample", "attention_elements_per_sample"):
        assert one(name, **run) == pytest.approx(getattr(network, name))


def test_a_detector_works_as_hard_as_its_backbone_and_heads() -> None:
    gmacs = {
        name: fact(f"{name}_FPN_3x", "forward_gmacs")
        for name in (
            "faster_rcnn_R_50",
            "mask_rcnn_R_50",
            "mask_rcnn_R_101",
            "mask_rcnn_X_101_32x8d",
        )
    }
    assert list(gmacs.values()) == sorted(gmacs.values())
