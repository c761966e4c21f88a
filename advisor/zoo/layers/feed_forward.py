"""Feed-forward layers: plain, gated, and mixtures of experts."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.zoo.layers.linear import Linear, total_flops_per_token, total_params


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedForward:
    """Two linear layers around an activation; three when gated (GLU).

    Parameters
    ----------
    hidden, inner : int
        Width outside and inside.
    gated : bool
        Whether the activation is multiplied with a second projection (SwiGLU, GeGLU).
    bias : bool
        Whether the linear layers have biases.
    saves_input : bool
        Whether the backward pass needs the input of the activation besides its output. GELU and
        SiLU do, ReLU does not.
    """

    hidden: int
    inner: int
    gated: bool = False
    bias: bool = False
    saves_input: bool = True

    @property
    def linears(self) -> tuple[Linear, ...]:
        """All linear layers."""
        up = Linear(self.hidden, self.inner, self.bias)
        down = Linear(self.inner, self.hidden, self.bias)
        return (up, up, down) if self.gated else (up, down)

    @property
    def active_linears(self) -> tuple[Linear, ...]:
        """Linear layers that each token passes."""
        return self.linears

    @property
    def params(self) -> int:
        """Trained parameters."""
        return total_params(self.linears)

    @property
    def active_params(self) -> int:
        """Parameters that one token uses."""
        return self.params

    @property
    def expert_params(self) -> int:
        """Parameters inside routed experts."""
        return 0

    @property
    def flops_per_token(self) -> int:
        """Forward FLOPs of one token."""
        return total_flops_per_token(self.linears)

    @property
    def kept_per_token(self) -> int:
        """Elements kept inside, without the input of the layer.

        Plain: input and output of the activation, the ``16sbh`` bytes of Korthikanti et al. 2022
        (arXiv 2205.05198, section 4.1) with an inner width of 4h. Gated: gate, activated gate,
        second projection and their product, as separate kernels keep them.
        """
        around_activation = 2 if self.saves_input else 1
        return self.inner * (around_activation + (2 if self.gated else 0))


@dataclass(frozen=True, kw_only=True, slots=True)
class Experts:
    """A mixture of experts: a router sends each token to some of many feed-forward layers.

    Parameters
    ----------
    expert : FeedForward
        One routed expert.
    count, per_token : int
        Routed experts, and how many of them serve a token.
    shared : FeedForward, optional
        What every token passes besides (several shared experts are one wide one).
    shared_gate : bool
        Whether a learned scalar weighs the shared part (Qwen1.5-MoE, Qwen2-MoE).
    router_bias : bool
        Whether the router has one bias per expert (DeepSeek-V3, to balance the load).
    """

    expert: FeedForward
    count: int
    per_token: int
    shared: FeedForward | None = None
    shared_gate: bool = False
    router_bias: bool = False

    @property
    def hidden(self) -> int:
        """Width outside."""
        return self.expert.hidden

    @property
    def router(self) -> Linear:
        """The layer that scores the experts."""
        return Linear(self.hidden, self.count, self.router_bias)

    @property
    def linears(self) -> tuple[Linear, ...]:
        """All linear layers of all experts (not the router)."""
        return self.expert.linears * self.count + self._shared_linears

    @property
    def active_linears(self) -> tuple[Linear, ...]:
        """Linear layers that each token passes, with the router."""
        gate = (Linear(self.hidden, 1),) if self.shared_gate else ()
        chosen = self.expert.linears * self.per_token
        return chosen + self._shared_linears + gate + (self.router,)

    @property
    def params(self) -> int:
        """Trained parameters."""
        return self.active_params + (self.count - self.per_token) * self.expert.params

    @property
    def active_params(self) -> int:
        """Parameters that one token uses."""
        return total_params(self.active_linears)

    @property
    def expert_params(self) -> int:
        """Parameters inside routed experts."""
        return self.count * self.expert.params

    @property
    def flops_per_token(self) -> int:
        """Forward FLOPs of one token: chosen and shared experts and the router."""
        return total_flops_per_token(self.active_linears)

    @property
    def kept_per_token(self) -> int:
        """Elements kept inside, without the input of the layer.

        Each chosen expert keeps its own copy of the token, its inner elements, and its output,
        which the gradient of the routing weight needs; the router keeps its scores.
        """
        shared = self.shared.kept_per_token if self.shared else 0
        copies = 2 * self.hidden + self.expert.kept_per_token
        return self.per_token * copies + shared + self.count

    @property
    def _shared_linears(self) -> tuple[Linear, ...]:
        return self.shared.linears if self.shared else ()
