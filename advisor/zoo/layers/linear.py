"""A linear layer: the unit that parameters, FLOPs and low-rank adapters are counted in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Linear(NamedTuple):
    """A matrix of `inputs` × `outputs`, with or without a bias vector.

    >>> Linear(1024, 4096, bias=True).params
    4198400
    """

    inputs: int
    outputs: int
    bias: bool = False

    @property
    def params(self) -> int:
        """Weights and biases."""
        return self.inputs * self.outputs + (self.outputs if self.bias else 0)

    @property
    def flops_per_token(self) -> int:
        """Forward FLOPs of one token: one multiply-add per weight (biases are neglected)."""
        return 2 * self.inputs * self.outputs


def total_params(linears: Iterable[Linear]) -> int:
    """Return the parameters of all `linears`."""
    return sum(linear.params for linear in linears)


def total_flops_per_token(linears: Iterable[Linear]) -> int:
    """Return the forward FLOPs that one token costs in all `linears`."""
    return sum(linear.flops_per_token for linear in linears)


def total_dimensions(linears: Iterable[Linear]) -> int:
    """Return inputs plus outputs of all `linears`: adapter parameters per unit of rank."""
    return sum(linear.inputs + linear.outputs for linear in linears)
