"""Jobs that several tests run."""

from __future__ import annotations

import numpy as np

from advisor.transient.job import SpotJob
from advisor.transient.lifetime import Exponential, Lifetime, Weibull
from advisor.transient.markets import from_band, known_lifetime
from advisor.transient.overheads import Overheads
from advisor.transient.policy import POLICIES

H = 3600.0
OVERHEADS = Overheads(
    start_s=80.0, load_s=60.0, checkpoint_s=20.0, warm_s=20.0, hand_over_s=5.0, wait_s=30.0
)
MOST_REVOCATIONS = 30.0


def spot_job(**changes: object) -> SpotJob:
    """Eight machines for ten hours, each revoked every two days."""
    given: dict[str, object] = {
        "work_s": 10 * H,
        "machines": 8,
        "lifetime": Exponential(rate_per_s=1 / (48 * H)),
        "usd_per_h": 3.0,
        "on_demand_usd_per_h": 10.0,
        "overheads": OVERHEADS,
    }
    return SpotJob(**(given | changes))  # type: ignore[arg-type]


def lifetimes() -> list[Lifetime]:
    """Of every kind, front-loaded and not."""
    measured = [known_lifetime(gpu, "gcp", "us-west1", "preemptible") for gpu in ("K80", "V100")]
    return [
        Exponential(rate_per_s=1 / (30 * H)),
        Weibull(shape=0.5, scale_s=60 * H),
        from_band(0.2, 1.0).lifetime,
        *(known.lifetime for known in measured if known is not None),
    ]


def random_plans(count: int, seed: int = 0) -> list[tuple[SpotJob, int]]:
    """Plans that can finish, with their segments."""
    rng = np.random.default_rng(seed)
    kinds = lifetimes()
    found: list[tuple[SpotJob, int]] = []
    while len(found) < count:
        work_s = float(np.exp(rng.uniform(0, np.log(40)))) * H
        segments = int(rng.integers(2, 120))
        overheads = Overheads(
            start_s=float(rng.uniform(30, 300)),
            load_s=float(rng.uniform(5, 200)),
            checkpoint_s=float(rng.uniform(1, 60)),
            wait_s=float(rng.uniform(0, 400)),
        )
        job = spot_job(
            work_s=work_s,
            machines=int(rng.integers(1, 9)),
            lifetime=kinds[len(found) % len(kinds)],
            overheads=overheads,
            common_share=float(rng.uniform(0, 0.5)),
        )
        if POLICIES["restart"]().applies(job, segments):
            continue
        found.append((job, segments))
    return found
