"""Calibration of the terms of a physical sum by runs: which of its parts is how far off.

A measured step, or a measured peak of memory, is the sum of physical terms (compute, transfers,
exchange; or states, activations, context), each times an unknown factor, and times the factor of
the group a run belongs to. Factors are log-normal about 1, so a run moves the term that makes the
most of it, and few runs move it little: the maximum a posteriori by Gauss-Newton steps, which is a
ridge regression of the logarithm on the terms' shares (Rasmussen and Williams, 2006, section 2.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from scipy.stats import norm, t

from advisor.predictor.arrays import FloatArray

if TYPE_CHECKING:
    from collections.abc import Sequence

STEPS: Final = 12
# Spreads of the logarithm that the runs choose from by their marginal likelihood: that of one
# run about the calibrated sum, and that of the groups.
NOISE_SPREADS: Final = (0.02, 0.03, 0.05, 0.08, 0.12)
GROUP_SPREADS: Final = (0.01, 0.1, 0.3, 1.0)
LEVEL: Final = 0.9


@dataclass(frozen=True, slots=True)
class TermCalibration:
    """Factors of the terms, and what is left unknown.

    Attributes
    ----------
    log_factor : array, shape (terms,)
        Logarithm of each term's factor.
    group_effect : dict of str to float
        Logarithm of the factor of each group seen.
    covariance : array, shape (terms + groups, terms + groups)
        Of these, after the runs.
    noise, group_spread : float
        Spread of the logarithm of one run, and that of a group not seen.
    runs : int
        How many runs it has seen.
    wider : float
        How much farther each run is from what the others say of it than they state, at least 1.
    """

    log_factor: FloatArray
    group_effect: dict[str, float]
    covariance: FloatArray
    noise: float
    group_spread: float
    runs: int
    wider: float

    @classmethod
    def fit(
        cls,
        terms: FloatArray,
        measured: FloatArray,
        term_spread: Sequence[float],
        groups: Sequence[str] | None = None,
        noise_spreads: Sequence[float] = NOISE_SPREADS,
    ) -> Self:
        """Learn the factors from runs; none leave them at 1.

        Parameters
        ----------
        terms : array, shape (runs, terms)
            Predicted terms, at least one above 0 in every row.
        measured : array, shape (runs,)
            Measured sums, in the unit of the terms.
        term_spread : sequence of float
            How far the logarithm of each term's factor is from 0 before any run.
        groups : sequence of str, optional
            The group of each run, such as runs of one script; by default there are none.
        noise_spreads : sequence of float
            Spreads of one run to choose from.
        """
        names = [] if groups is None else sorted(set(groups))
        design = _membership(groups, names, len(measured))
        spreads = GROUP_SPREADS if names else (0.0,)
        prior = np.asarray(term_spread, dtype=float)
        best = max(
            (
                (
                    _posterior(
                        terms, measured, design, np.append(prior, [group] * len(names)), noise
                    ),
                    noise,
                    group,
                )
                for noise in noise_spreads
                for group in spreads
            ),
            key=lambda found: found[0].evidence,
        )
        posterior, noise, group = best
        count = terms.shape[1]
        return cls(
            log_factor=posterior.effects[:count],
            group_effect=dict(zip(names, posterior.effects[count:].tolist(), strict=True)),
            covariance=posterior.covariance,
            noise=noise,
            group_spread=group,
            runs=len(measured),
            wider=posterior.wider,
        )

    def predict(
        self, terms: FloatArray, groups: Sequence[str] | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the calibrated sum of every row and the spread of its logarithm.

        A group that no run belonged to has the factor 1 and the spread of groups. Few runs say
        little of their own spread: it is widened as Student's t is wider than the normal.
        """
        names = list(self.group_effect)
        design = _membership(groups, names, len(terms))
        scaled = terms * np.exp(self.log_factor)
        total = scaled.sum(axis=1)
        effect = design @ np.array([self.group_effect[name] for name in names])
        jacobian = np.concatenate([scaled / total[:, None], design], axis=1)
        variance = np.einsum("ij,jk,ik->i", jacobian, self.covariance, jacobian)
        new_group = (1 - design.sum(axis=1)) * (0.0 if groups is None else self.group_spread**2)
        level = 0.5 + LEVEL / 2
        few = float(t.ppf(level, max(self.runs - 1, 1)) / norm.ppf(level)) if self.runs else 1.0
        spread = self.wider * np.sqrt(variance + new_group + (few * self.noise) ** 2)
        return np.asarray(total * np.exp(effect)), np.asarray(spread)


def _membership(groups: Sequence[str] | None, names: list[str], rows: int) -> FloatArray:
    if groups is None or not names:
        return np.zeros((rows, len(names)))
    return np.asarray(np.array(list(groups))[:, None] == np.array(names)[None, :], dtype=float)


@dataclass(frozen=True, slots=True)
class _Posterior:
    """Mean and covariance of the effects, the log likelihood of the runs, and `wider`."""

    effects: FloatArray
    covariance: FloatArray
    evidence: float
    wider: float


def _posterior(
    terms: FloatArray, measured: FloatArray, design: FloatArray, prior: FloatArray, noise: float
) -> _Posterior:
    count = terms.shape[1]
    effects = np.zeros(count + design.shape[1])
    precision = np.diag(1 / prior**2)
    inverse: FloatArray = np.diag(prior**2)
    for _ in range(STEPS if len(measured) else 0):
        jacobian, residual = _linear(terms, measured, design, effects)
        inverse = np.asarray(np.linalg.inv(jacobian.T @ jacobian / noise**2 + precision), float)
        effects = inverse @ jacobian.T @ residual / noise**2
    jacobian, residual = _linear(terms, measured, design, effects)
    covariance = noise**2 * np.eye(len(measured)) + (jacobian * prior**2) @ jacobian.T
    precise = np.linalg.inv(covariance)
    pulled = precise @ residual
    evidence = -0.5 * (np.linalg.slogdet(covariance)[1] + residual @ pulled)
    # What all others say of each run: Rasmussen and Williams, equation 5.12.
    missed = pulled / np.sqrt(np.diag(precise))
    wider = max(1.0, float(np.sqrt(np.mean(missed**2)))) if len(measured) > 1 else 1.0
    return _Posterior(np.asarray(effects), np.asarray(inverse), float(evidence), wider)


def _linear(
    terms: FloatArray, measured: FloatArray, design: FloatArray, effects: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the shares of the terms and groups, and what they have to explain together."""
    count = terms.shape[1]
    scaled = terms * np.exp(effects[:count])
    total = scaled.sum(axis=1)
    jacobian = np.concatenate([scaled / total[:, None], design], axis=1)
    missed = np.log(measured / total) - design @ effects[count:]
    return jacobian, missed + jacobian @ effects
