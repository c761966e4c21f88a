"""What reinforcement learning from human feedback adds to a training step.

A step of PPO (Ouyang et al., 2022, arXiv 2203.02155) lets the model answer prompts, scores the
answers against a frozen reference of the same size, and trains on both. Answers come a token at a
time: every token reads all weights that a device holds, so they take bandwidth, not arithmetic
(Pope et al., 2022, arXiv 2211.05102, section 2.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.predictor.collectives import LINK_LATENCY_S, ring_all_reduce_s

if TYPE_CHECKING:
    from advisor.predictor.arrays import FloatArray
    from advisor.predictor.jobs import Jobs

# Sequences a device takes at once: the caches of four models leave room for few.
SEQUENCES_PER_DEVICE: Final = 8
# Weights may fill this share of a device while it answers; the rest is for caches.
WEIGHTS_SHARE: Final = 0.5
# Of a sequence that the model itself writes: half prompt, half answer.
ANSWER_SHARE: Final = 0.5
# Share of the memory bandwidth that reading weights for a few sequences reaches, and what one
# layer takes to launch [s].
READING_SHARE: Final = 0.6
LAYER_S: Final = 1e-4


def answers_s(jobs: Jobs) -> FloatArray:
    """Return the time in which the model writes the answers of one batch [s].

    A group is the fewest devices of a machine that hold the weights in half precision; each of
    its devices reads its share of them once per token, for a few sequences at a time.
    """
    weights = 2.0 * jobs.active_params
    ways = np.exp2(np.ceil(np.log2(np.maximum(weights / (WEIGHTS_SHARE * jobs.memory_bytes), 1.0))))
    ways = np.minimum(ways, jobs.devices_per_node)
    reading = weights / ways / (READING_SHARE * jobs.memory_bytes_per_s)
    size = SEQUENCES_PER_DEVICE * ways * jobs.hidden * 2.0
    once = ring_all_reduce_s(size, ways, jobs.link_bytes_per_s, LINK_LATENCY_S)
    sharing = np.where(ways > 1, 2 * jobs.layers * once, 0.0)
    tokens = ANSWER_SHARE * jobs.tokens_per_sample
    rounds = np.ceil(jobs.global_batch / (SEQUENCES_PER_DEVICE * jobs.devices))
    return np.asarray(rounds * tokens * (reading + LAYER_S * jobs.layers + sharing))


def scoring_share(jobs: Jobs) -> FloatArray:
    """Return a forward pass of the reference as a share of a training step of the model."""
    return np.asarray(1.0 / (1.0 + jobs.backward_ratio + jobs.recompute_share))
