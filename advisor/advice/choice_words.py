"""Why a plan was chosen, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.advice.flips import signed_percent
from advisor.advice.infeasible import NAMES
from advisor.core.units import NBSP, hours, percent, usd

if TYPE_CHECKING:
    from advisor.domain import Binding, Choice, Option, Swing


def option_words(option: Option) -> str:
    """Return machines, place and market of a plan."""
    region = option.cluster.groups[0].region
    return f"{option.cluster}, {region}, {option.market.replace('_', '-')}"


def binding_sentences(choice: Choice) -> tuple[str, ...]:
    """Return which limits bind, and what would be picked without each."""
    if not choice.bindings:
        return ("No limit binds: without any of them this would be picked too.",)
    return tuple(_binding(binding) for binding in choice.bindings)


def _binding(binding: Binding) -> str:
    name = NAMES.get(binding.limit, binding.limit.replace("_", " "))
    cost = f"{usd(abs(binding.saving_usd))} {'less' if binding.saving_usd > 0 else 'more'}"
    later = "sooner" if binding.saving_hours > 0 else "later"
    return (
        f"Without the limit on {name}: {option_words(binding.then)}, {cost}, "
        f"{hours(abs(binding.saving_hours), like=binding.then.hours)}{NBSP}h {later}."
    )


def sureness_sentence(choice: Choice) -> str:
    """Return how likely the chosen plan is the cheapest, and what is lost where it is not."""
    if choice.considered == 1:
        return "There is no other plan to choose."
    return (
        f"Of {choice.considered} plans that could turn out cheapest this one does with a chance of "
        f"{percent(choice.cheapest_probability)}; it is expected to cost {usd(choice.regret_usd)} "
        "more than whichever does."
    )


def robust_sentence(choice: Choice) -> str:
    """Return which plan is expected to lose least, and whether that is the chosen one."""
    if choice.considered == 1:
        return ""
    if choice.robust == choice.chosen:
        return "No other is expected to lose less: it is the robust choice as well."
    return (
        f"The robust choice is {option_words(choice.robust)}: it is expected to cost "
        f"{usd(choice.robust_regret_usd)} more than the best."
    )


def swing_words(swing: Swing) -> str:
    """Return the bill at both ends of the range of an assumption."""
    if swing.width_usd == 0:
        return f"{usd(swing.high_usd)} either way"
    return f"{usd(swing.low_usd)} to {usd(swing.high_usd)}"


def crossing_words(factor: float | None) -> str:
    r"""Return where two bills are equal, as a change of the uncertain quantity.

    >>> crossing_words(1.31), crossing_words(0.5), crossing_words(None)
    ('equal at +31\xa0%', 'equal at −50\xa0%', 'equal nowhere near')
    """
    if factor is None:
        return "equal nowhere near"
    return f"equal at {signed_percent(factor - 1)}"
