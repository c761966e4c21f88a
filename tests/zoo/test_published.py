"""Every registered architecture agrees with what was published about it."""

from __future__ import annotations

import pytest

from advisor.domain import Model
from advisor.zoo import get, names

ACTIVE_BILLIONS = {
    "mixtral-8x7b": 12.9,  # arXiv 2401.04088, section 1: "13B"; 12.9B in the announcement
    "mixtral-8x22b": 39.1,  # Mistral AI 2024: 39B active
    "qwen1.5-moe-a2.7b": 2.7,
    "qwen3-235b-a22b": 22.0,
    "deepseek-v2": 21.0,
    "deepseek-v3": 37.0,
}


@pytest.mark.parametrize("name", names())
def test_computed_parameters_agree_with_the_published_count_within_one_percent(name: str) -> None:
    architecture = get(name)
    assert architecture.published_params
    assert architecture.source
    assert architecture.params == pytest.approx(architecture.published_params, rel=0.01)


@pytest.mark.parametrize("name", names())
def test_every_architecture_makes_a_model_that_survives_json(name: str) -> None:
    architecture = get(name)
    model = architecture.model()
    assert Model.from_json(model.to_json()) == model
    assert model.name == name
    assert model.params == architecture.params
    assert model.active_params == architecture.active_params
    assert model.family == architecture.family


@pytest.mark.parametrize(("name", "billions"), ACTIVE_BILLIONS.items())
def test_active_parameters_of_mixtures_agree_with_the_published_ones(
    name: str, billions: float
) -> None:
    assert get(name).active_params == pytest.approx(billions * 1e9, rel=0.02)


@pytest.mark.parametrize("name", names())
def test_experts_and_active_parameters_fit_together(name: str) -> None:
    model = get(name).model()
    idle = model.params - model.active_params
    if not model.experts:
        assert idle == 0
        assert model.expert_params == 0
    else:
        share = 1 - model.experts_per_token / model.experts
        assert idle == pytest.approx(model.expert_params * share)


def test_there_are_the_models_that_people_train() -> None:
    assert len(names()) > 150
    assert names() == sorted(names())
