"""The factor by which each software framework is faster or slower than the physics says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from advisor.predictor.arrays import FloatArray
from advisor.predictor.costs import KINDS, kind_of
from advisor.predictor.difficulty import model_keys
from advisor.predictor.frameworks import UNNAMED
from advisor.predictor.jobs import Jobs

# So many models under one framework give its effect half its weight.
HALF_KNOWN_MODELS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Effects:
    """An effect for every key that was measured; any other key has none."""

    keys: FloatArray
    effects: FloatArray

    @classmethod
    def fit(cls, keys: FloatArray, models: np.ndarray, residual: FloatArray) -> Self:
        """Take the median over a key's models of their median residual, shrunk by how few."""
        known = np.unique(keys)
        effects = np.empty(len(known))
        for place, key in enumerate(known):
            rows = keys == key
            medians = [np.median(residual[rows & (models == model)])
                       for model in np.unique(models[rows])]  # fmt: skip
            effects[place] = np.median(medians) * len(medians) / (len(medians) + HALF_KNOWN_MODELS)
        return cls(known, effects)

    def of(self, keys: FloatArray) -> FloatArray:
        """Return the effect of every key."""
        if not len(self.keys):
            return np.zeros(len(keys))
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.effects[place], 0.0)


@dataclass(frozen=True, slots=True)
class FrameworkEffects:
    """The effects of a software stack, and of a framework within it, on a kind of network.

    Nested random effects in the logarithm of the step. A framework that is not named, or was
    not measured, has that of its stack.
    """

    stacks: Effects
    frameworks: Effects

    @classmethod
    def fit(cls, jobs: Jobs, residual: FloatArray) -> Self:
        """Fit to log residuals of the physics, one per job."""
        models = np.unique(np.array(model_keys(jobs)), axis=0, return_inverse=True)[1].reshape(-1)
        stack = _of_kind(jobs.stack_code, jobs)
        stacks = Effects.fit(stack, models, residual)
        named = jobs.framework_code != UNNAMED
        framework = _of_kind(jobs.framework_code, jobs)[named]
        rest = (residual - stacks.of(stack))[named]
        return cls(stacks, Effects.fit(framework, models[named], rest))

    def of(self, jobs: Jobs) -> FloatArray:
        """Return the effect on every job."""
        framework = self.frameworks.of(_of_kind(jobs.framework_code, jobs))
        named = np.where(jobs.framework_code != UNNAMED, framework, 0.0)
        return self.stacks.of(_of_kind(jobs.stack_code, jobs)) + named


def _of_kind(code: FloatArray, jobs: Jobs) -> FloatArray:
    return np.asarray(code * len(KINDS) + kind_of(jobs))
