"""Frameworks: named in any spelling, known as far as their models tell, else as their stack."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from advisor.predictor.framework_effects import HALF_KNOWN_MODELS, FrameworkEffects
from advisor.predictor.frameworks import TUNED, UNNAMED, framework_codes
from tests.predictor.job_examples import make

NAMED = 77.0


def runs(models: int, **changes: float):
    return make(**changes, params=1e9 * 2.0 ** np.arange(models))


def test_spelling_does_not_matter_and_no_name_is_no_framework() -> None:
    codes = framework_codes(pd.Series(["Megatron-LM", "megatron lm", "tuned", ""]))
    assert codes[0] == codes[1]
    assert codes.tolist()[2:] == [TUNED, UNNAMED]


@pytest.mark.parametrize("models", [1, 5, 40])
def test_a_framework_counts_the_more_the_more_models_it_ran(models) -> None:
    jobs = runs(models, framework_code=NAMED)
    effects = FrameworkEffects.fit(jobs, np.full(len(jobs), 0.4))
    share = models / (models + HALF_KNOWN_MODELS)
    # What the stack does not take over, the framework does, as far as it is known.
    assert effects.of(jobs) == pytest.approx(0.4 * (share + (1 - share) * share))


def test_an_unnamed_or_unmeasured_framework_has_the_effect_of_its_stack() -> None:
    jobs = runs(10, framework_code=NAMED)
    effects = FrameworkEffects.fit(jobs, np.full(len(jobs), 0.4))
    for code in (UNNAMED, 5.0):
        assert effects.of(runs(1, framework_code=code)) == pytest.approx(0.2)


def test_another_stack_or_kind_of_network_has_none() -> None:
    jobs = runs(10, framework_code=NAMED)
    effects = FrameworkEffects.fit(jobs, np.full(len(jobs), 0.4))
    assert effects.of(runs(1, stack_code=3.0)).tolist() == [0.0]
    assert effects.of(runs(1, family_code=4.0, framework_code=NAMED)).tolist() == [0.0]
