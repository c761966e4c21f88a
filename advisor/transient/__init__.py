"""Spot machines: how long they live, what a revocation costs, how long a job then takes."""

from advisor.transient.markets import NO_DATA, KnownLifetime, LifetimeBasis, known_lifetime

__all__ = ["NO_DATA", "KnownLifetime", "LifetimeBasis", "known_lifetime"]
