"""From steady-state hours to those of a whole effort: what long runs on many machines lose.

A predicted step is one of a run that goes well. Restarts after failures, checkpoints, evaluation,
ramp-up and steps done again are on top. What they cost is known for a few large efforts, whose
authors state both the utilisation of a running step and the time that the whole took.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from advisor.predictor.arrays import FloatArray, Floats


@dataclass(frozen=True, slots=True)
class PublishedEffort:
    """One effort: accelerator-hours in all, and those that its stated running speed implies."""

    name: str
    family: str
    whole_h: float
    steady_h: float
    source: str

    @property
    def log_factor(self) -> float:
        """Logarithm of whole ÷ steady."""
        return float(np.log(self.whole_h / self.steady_h))


PUBLISHED: Final = (
    PublishedEffort(
        "OPT-175B", "opt", 809_472, 476_000,
        "147 TFLOP/s per A100 with recomputation (8·N·D), 180 B tokens (Zhang et al., 2022, arXiv "
        "2205.01068, section 2.5); hours: Touvron et al., 2023, arXiv 2302.13971, table 15",
    ),
    PublishedEffort(
        "BLOOM-176B", "bloom", 1_082_990, 977_000,
        "105 s per step of 2,048 sequences of 2,048 tokens, 366 B tokens, 384 A100 (Le Scao et "
        "al., 2022, arXiv 2211.05100, and the training chronicle)",
    ),
    PublishedEffort(
        "GLM-130B", "glm", 1_105_920, 854_000,
        "60 days on 768 A100-40GB for 400 B tokens at a model FLOPs utilisation of 32.5 % (Zeng et "
        "al., 2022, arXiv 2210.02414, sections 1 and 2.4)",
    ),
    PublishedEffort(
        "Llama 3 405B", "llama", 30_840_000, 25_900_000,
        "15.6 T tokens at 41 % utilisation of H100 (Grattafiori et al., 2024, arXiv 2407.21783, "
        "table 4; over 90 % effective training time, section 3.3.4); hours: model card",
    ),
    PublishedEffort(
        "PaLM-540B", "palm", 8_404_992, 5_517_000,
        "45.7 % of a TPU v4 against 30 % by the hours (Chowdhery et al., 2022, arXiv 2204.02311, "
        "table 3 and appendix B)",
    ),
    PublishedEffort(
        "LLaMA 65B", "llama", 1_022_362, 1_023_392,
        "380 tokens/s per A100, 1.4 T tokens (Touvron et al., 2023, arXiv 2302.13971, section 2.4 "
        "and table 15): stated hours are those of running steps",
    ),
    PublishedEffort(
        "GPT-NeoX-20B", "neox", 175_680, 184_700,
        "117 TFLOP/s per A100 with recomputation (8·N·D), 472 B tokens, 1,830 hours on 96 (Black "
        "et al., 2022, arXiv 2204.06745, sections 3 and 6)",
    ),
)  # fmt: skip
# Below so many accelerator-hours nothing is lost that is worth counting: a machine for half a
# year or a hundred for half a week; from so many on all of it. On the logarithm between them.
NOTHING_LOST_H: Final = 1e4
ALL_LOST_H: Final = 1e6


def whole_effort_factor(accelerator_hours: Floats, *, without: str = "") -> FloatArray:
    """Return by what the hours of a whole effort exceed those of its running steps.

    The geometric mean of the published efforts, growing to it with the size of the effort.

    Parameters
    ----------
    accelerator_hours : array
        Predicted steady-state accelerator-hours.
    without : str
        Family of models whose efforts are not to be learned from.

    Examples
    --------
    >>> whole_effort_factor(np.array([100.0, 1e5, 1e7])).round(2).tolist()
    [1.0, 1.11, 1.23]
    """
    known = [effort.log_factor for effort in PUBLISHED if effort.family != without]
    size = np.log10(np.maximum(accelerator_hours, 1.0) / NOTHING_LOST_H)
    grown = np.clip(size / np.log10(ALL_LOST_H / NOTHING_LOST_H), 0.0, 1.0)
    return np.asarray(np.exp(grown * np.mean(known)))


def whole_effort_spread(*, without: str = "") -> float:
    """Return the standard deviation of the logarithm of that factor among the efforts."""
    return float(np.std([e.log_factor for e in PUBLISHED if e.family != without], ddof=1))
