"""Every registered architecture agrees with what was published about it."""

from __future__ import annotations

import pytest

from advisor.domain import Model
from advisor.zoo import get, names


@pytest.mark.parametrize("name", names())
def test_computed_parameters_agree_with_the_published_count_within_one_percent(name: str) -> None:
    architecture = get(name)
    assert architecture.published_params
    assert architecture.source
    assert architecture.params == pytest.approx(architecture.published_params, rel=0.01)


@pytest.mark.parametrize("name", names())
def test_every_architecture_makes_a_model_that_survives_json(name: str) -> None:
    model = get(name).model()
    assert Model.from_json(model.to_json()) == model
    assert model.params == get(name).params
    assert model.active_params == get(name).active_params
