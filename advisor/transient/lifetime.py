r"""How long a machine of a spot market lives: survival, hazard and samples.

A lifetime is a frozen object. Its functions take ages [s] as arrays or numbers and a `times`
factor on the hazard: ``times=n`` is the first revocation among `n` independent machines of the
same age, ``times=2`` a market twice as rough. With cumulative hazard :math:`H`,

.. math:: S(t) = e^{-k H(t)}, \qquad S(t) = 0 \text{ from the cap on}

The cap is the age at which the market stops every machine (24 h for Google's preemptible ones).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import gamma, gammainc

from advisor.core.errors import InvalidInputError
from advisor.predictor.arrays import FloatArray, Floats


@dataclass(frozen=True, kw_only=True)
class Lifetime(ABC):
    """Base of the lifetimes; `cap_s` is infinite where the market has no cap."""

    cap_s: float = math.inf

    def __post_init__(self) -> None:
        check_positive("cap", self.cap_s, finite=False)

    @abstractmethod
    def cumulative_hazard(self, age_s: Floats) -> FloatArray:
        """Expected number of revocations up to an age, were each machine replaced by its like."""

    @abstractmethod
    def age_at(self, cumulative: Floats) -> FloatArray:
        """Return the age [s] at which the cumulative hazard reaches a value; inf if never."""

    @abstractmethod
    def hazard(self, age_s: Floats) -> FloatArray:
        """Rate of revocation [1/s] of a machine that has reached an age."""

    @abstractmethod
    def _area_to(self, age_s: FloatArray, times: FloatArray) -> FloatArray:
        """Integral of the survival up to an age below the cap [s]; `times` broadcasts to it."""

    def survival(self, age_s: Floats, times: Floats = 1.0) -> FloatArray:
        """Share of machines that outlive an age."""
        age = np.asarray(age_s, float)
        alive = np.exp(-np.asarray(times) * self.cumulative_hazard(age))
        return np.where(age >= self.cap_s, 0.0, alive)

    def mean_until(self, age_s: Floats, times: Floats = 1.0) -> FloatArray:
        """Mean time until revocation or until `age_s`, whichever is first [s]."""
        age = np.minimum(np.asarray(age_s, float), self.cap_s)
        factor = np.asarray(times, float)
        shape = np.broadcast_shapes(age.shape, factor.shape)
        return self._area_to(np.broadcast_to(age, shape), factor)

    def mean_s(self, times: Floats = 1.0) -> FloatArray:
        """Mean lifetime [s]; infinite where a share of the machines is never revoked."""
        return self.mean_until(math.inf, times)

    def sample(
        self, rng: np.random.Generator, size: int | tuple[int, ...], times: Floats = 1.0
    ) -> FloatArray:
        """Draw lifetimes [s]."""
        return self.age_of_draws(rng.standard_exponential(size), times)

    def age_of_draws(self, exponentials: FloatArray, times: Floats = 1.0) -> FloatArray:
        """Turn standard exponential draws into lifetimes [s]; equal draws compare plans."""
        return np.minimum(self.age_at(exponentials / times), self.cap_s)

    def quantile(self, share: Floats) -> FloatArray:
        """Return the age [s] by which a share of the machines is revoked."""
        given = np.asarray(share, float)
        if not ((given >= 0) & (given < 1)).all():
            raise InvalidInputError("a share lies from 0 to below 1.", where="share revoked")
        return np.minimum(self.age_at(-np.log1p(-given)), self.cap_s)

    def capped(self, cap_s: float) -> Self:
        """Return the same lifetime in a market that stops machines at `cap_s`."""
        return replace(self, cap_s=cap_s)

    def aged(self, age_s: float) -> Lifetime:
        """Return what is left of the lifetime of a machine that has reached an age [s].

        Raises
        ------
        InvalidInputError
            If the age is negative, or no machine of the market gets so old.
        """
        if not 0 <= age_s < min(self.cap_s, math.inf):
            raise InvalidInputError(
                f"{age_s:g} s is not between 0 and the {self.cap_s:g} s after which all stop.",
                where="age of the machines",
                todo="Give the age of the youngest machine that runs now.",
            )
        if age_s == 0:
            return self
        return Aged(whole=self, age_s=age_s, cap_s=self.cap_s - age_s)


@dataclass(frozen=True, kw_only=True)
class Aged(Lifetime):
    """What is left of a lifetime at an age; under a front-loaded hazard it is the safer part."""

    whole: Lifetime
    age_s: float

    def cumulative_hazard(self, age_s: Floats) -> FloatArray:
        """See `Lifetime`."""
        before = self.whole.cumulative_hazard(self.age_s)
        return self.whole.cumulative_hazard(self.age_s + np.asarray(age_s, float)) - before

    def age_at(self, cumulative: Floats) -> FloatArray:
        """See `Lifetime`."""
        before = self.whole.cumulative_hazard(self.age_s)
        later = self.whole.age_at(np.asarray(cumulative, float) + before) - self.age_s
        return np.maximum(later, 0.0)

    def hazard(self, age_s: Floats) -> FloatArray:
        """See `Lifetime`."""
        return self.whole.hazard(self.age_s + np.asarray(age_s, float))

    def _area_to(self, age_s: FloatArray, times: FloatArray) -> FloatArray:
        # Beyond the cap nothing is asked; the whole lifetime's cap lies at the same moment.
        survived = np.exp(-times * self.whole.cumulative_hazard(self.age_s))
        end = self.whole.mean_until(self.age_s + age_s, times)
        return np.asarray((end - self.whole.mean_until(self.age_s, times)) / survived)


@dataclass(frozen=True, kw_only=True)
class Exponential(Lifetime):
    """A constant hazard [1/s]: a machine does not age."""

    rate_per_s: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (math.isfinite(self.rate_per_s) and self.rate_per_s >= 0):
            raise InvalidInputError(
                f"a hazard of {self.rate_per_s} per second is not possible.",
                where="rate of revocation",
                todo="Give a rate of 0 or more.",
            )

    def cumulative_hazard(self, age_s: Floats) -> FloatArray:
        """See `Lifetime`."""
        return self.rate_per_s * np.asarray(age_s, float)

    def age_at(self, cumulative: Floats) -> FloatArray:
        """See `Lifetime`."""
        value = np.asarray(cumulative, float)
        if self.rate_per_s == 0:
            return np.where(value > 0, math.inf, 0.0)
        return value / self.rate_per_s

    def hazard(self, age_s: Floats) -> FloatArray:
        """See `Lifetime`."""
        return np.full(np.shape(age_s), self.rate_per_s)

    def _area_to(self, age_s: FloatArray, times: FloatArray) -> FloatArray:
        return area_of_constant(self.rate_per_s * times, age_s)


@dataclass(frozen=True, kw_only=True)
class Weibull(Lifetime):
    """Cumulative hazard ``(t / scale) ** shape``; a shape below 1 is front-loaded."""

    shape: float
    scale_s: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("Weibull shape", self.shape)
        check_positive("Weibull scale", self.scale_s)

    def cumulative_hazard(self, age_s: Floats) -> FloatArray:
        """See `Lifetime`."""
        return np.asarray((np.asarray(age_s, float) / self.scale_s) ** self.shape)

    def age_at(self, cumulative: Floats) -> FloatArray:
        """See `Lifetime`."""
        return np.asarray(self.scale_s * np.asarray(cumulative, float) ** (1 / self.shape))

    def hazard(self, age_s: Floats) -> FloatArray:
        """See `Lifetime`; infinite at age 0 where the shape is below 1."""
        with np.errstate(divide="ignore"):
            ratio = (np.asarray(age_s, float) / self.scale_s) ** (self.shape - 1)
        return np.asarray(self.shape / self.scale_s * ratio)

    def _area_to(self, age_s: FloatArray, times: FloatArray) -> FloatArray:
        # Substituting u = k (t/s)^b turns the integral into an incomplete gamma function.
        inverse = 1 / self.shape
        scale = self.scale_s * times**-inverse
        part = gammainc(inverse, times * self.cumulative_hazard(age_s))
        return np.asarray(scale * gamma(1 + inverse) * part)


def area_of_constant(rate_per_s: Floats, duration_s: Floats) -> FloatArray:
    """Integral of ``exp(-rate t)`` over a duration [s], exact as the rate goes to 0."""
    rate, duration = np.broadcast_arrays(
        np.asarray(rate_per_s, float), np.asarray(duration_s, float)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        area = -np.expm1(-rate * duration) / rate
    return np.where(rate > 0, area, duration)


def check_positive(name: str, value: float, *, finite: bool = True) -> None:
    """Refuse what is no positive number.

    Raises
    ------
    InvalidInputError
        Names the quantity.
    """
    if not value > 0 or (finite and not math.isfinite(value)):
        raise InvalidInputError(
            f"{value:g} is not possible.", where=name, todo="Give a positive number."
        )
