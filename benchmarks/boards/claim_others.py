"""What claims of other organisations say of a prediction: where it is off, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import ndtri

from advisor.predictor.interval import equal_weights
from benchmarks.boards.scoring import LEVEL

if TYPE_CHECKING:
    from advisor.predictor.arrays import FloatArray

# Efforts within so many powers of ten of accelerator-hours are alike in size.
LIKE_SIZE: Final = 2.0
# So many organisations give what they show half its weight.
HALF_KNOWN: Final = 4.0


@dataclass(frozen=True, slots=True)
class Claims:
    """Predicted claims with what was stated.

    ``log_error`` is the logarithm of stated ÷ predicted hours, ``sigma`` the spread that the
    predictor states of it; ``origin``, shape (n, 2), holds organisation and family of the
    network; ``language`` marks pre-training of language models.
    """

    hours: FloatArray
    sigma: FloatArray
    origin: np.ndarray
    language: np.ndarray
    log_error: FloatArray

    def take(self, rows: np.ndarray) -> Claims:
        """Return the rows under a mask."""
        return Claims(
            hours=self.hours[rows],
            sigma=self.sigma[rows],
            origin=self.origin[rows],
            language=self.language[rows],
            log_error=self.log_error[rows],
        )

    def others(self, origin: np.ndarray, *, language: bool) -> Claims:
        """Return the claims of the kind that share neither organisation nor family."""
        strange = (self.origin != origin).all(axis=1)
        return self.take(strange & (self.language == language))


def shift(hours: float, others: Claims) -> float:
    """Return the logarithm by which claims of others move a prediction.

    The median over organisations of their median error, claims and organisations weighted by how
    alike in size their efforts are, shrunk by how few organisations there are.
    """
    if not len(others.hours):
        return 0.0
    apart = np.log10(others.hours / hours) / LIKE_SIZE
    alike = np.exp(-0.5 * apart**2)
    names = np.unique(others.origin[:, 0])
    of_each = [others.origin[:, 0] == name for name in names]
    error = np.array([_quantile(others.log_error[own], alike[own], 0.5) for own in of_each])
    weight = np.array([alike[own].max() for own in of_each])
    known = float(weight.sum())
    return _quantile(error, weight, 0.5) * known / (known + HALF_KNOWN)


def _quantile(values: FloatArray, weights: FloatArray, level: float) -> float:
    """Return the least value below which so much of the weight lies."""
    order = np.argsort(values, kind="stable")
    share = np.cumsum(weights[order])
    reached = int(np.searchsorted(share, level * share[-1] - 1e-9))
    return float(values[order][min(reached, len(order) - 1)])


def learned(hours: float, sigma: float, origin: np.ndarray, known: Claims, *, language: bool
            ) -> tuple[float, float]:  # fmt: skip
    """Return the shift and the spread of the logarithm of one prediction.

    Pre-training of language models is moved, of which there are claims enough; the spread is the
    predictor's, scaled so that it would have covered the moved claims of others, every
    organisation counting equally.
    """
    others = known.others(origin, language=language)
    if not len(others.hours):
        return 0.0, sigma
    moved = others.log_error
    if language:
        moved = moved - np.array([
            shift(one, others.others(whose, language=True))
            for one, whose in zip(others.hours.tolist(), others.origin, strict=True)
        ])  # fmt: skip
    score = np.abs(moved) / others.sigma
    member = np.unique(others.origin[:, 0], return_inverse=True)[1]
    weights, _ = equal_weights(member[:, None])
    quantile = _quantile(score, weights, LEVEL)
    by = shift(hours, others) if language else 0.0
    return by, sigma * quantile / float(ndtri(0.5 + LEVEL / 2))
