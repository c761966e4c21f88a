"""Deep learning recommendation models (Naumov et al. 2019, arXiv 1906.00091)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from advisor.domain import Model
from advisor.zoo.base import Architecture
from advisor.zoo.layers.linear import Linear, total_flops_per_token, total_params


@dataclass(frozen=True, kw_only=True, slots=True)
class RecommendationModel(Architecture):
    """Embedding tables, a multilayer perceptron before and one after the interaction.

    A sample is one record of a click log. Reading embeddings costs memory traffic and no FLOPs.
    What crosses between devices is the embeddings of a record, where tables are spread over them.

    Parameters
    ----------
    rows : tuple of int
        Rows of the embedding tables.
    width : int
        Width of an embedding.
    bottom, top : tuple of int
        Widths of the perceptrons: from the dense features to `width`, and from the interaction
        to the answer; the input width of `top` follows from the interaction.
    cross_layers, cross_rank : int
        Low-rank cross layers of the interaction (DCN v2, arXiv 2008.13535); 0: dot products of
        all pairs of features.
    """

    rows: tuple[int, ...]
    width: int
    bottom: tuple[int, ...]
    top: tuple[int, ...]
    cross_layers: int = 0
    cross_rank: int = 0

    sample_unit: ClassVar[str] = "record"
    size_word: ClassVar[str] = "record size"

    @property
    def params(self) -> int:
        """Embedding tables and linear layers."""
        return sum(self.rows) * self.width + total_params(self._linears)

    def model(self, sample_size: int | None = None) -> Model:
        """Return the numbers of one record; a record has no size to choose."""
        self.checked_sample_size(sample_size)
        linears = self._linears
        kept = sum(linear.inputs for linear in linears)
        kept += self._flat * (1 + self.cross_layers)  # what the interactions multiply
        return Model.make(
            name=self.name,
            family=self.family,
            params=self.params,
            active_params=self.params,
            layers=len(linears),
            hidden=0,
            heads=0,
            kv_heads=0,
            vocab=0,
            tokens_per_sample=1,
            forward_flops_per_sample=total_flops_per_token(linears) + self._pair_flops,
            activation_elements_per_sample=kept,
            boundary_elements_per_sample=len(self.rows) * self.width,
            source=self.source,
        )

    @property
    def _features(self) -> int:
        """Embeddings and the output of the bottom perceptron."""
        return len(self.rows) + 1

    @property
    def _flat(self) -> int:
        """Width of all features side by side."""
        return self._features * self.width

    @property
    def _pair_flops(self) -> int:
        """FLOPs of the dot products of all features with each other, as one batched product."""
        return 0 if self.cross_layers else 2 * self._features**2 * self.width

    @property
    def _linears(self) -> tuple[Linear, ...]:
        flat = self._flat
        pairs = self.width + self._features * (self._features - 1) // 2
        crosses = (Linear(flat, self.cross_rank), Linear(self.cross_rank, flat, bias=True))
        joined = flat if self.cross_layers else pairs
        return (
            *perceptron(self.bottom),
            *(self.cross_layers * crosses),
            *perceptron((joined, *self.top)),
        )


def perceptron(widths: tuple[int, ...]) -> tuple[Linear, ...]:
    """Return linear layers from the first width to the last."""
    return tuple(Linear(before, after, bias=True) for before, after in pairwise(widths))
