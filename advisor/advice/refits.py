"""What became of refits of the predictor on the user's own runs, as the data directory keeps it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from pydantic import AwareDatetime, Field, ValidationError

from advisor.advice.refit_guard import Score
from advisor.core.files import atomic
from advisor.domain.base import Noun
from advisor.predictor.predictor import Basis

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger(__name__)
MOST_VERDICTS: Final = 20
_FILE: Final = "refits.json"


class Skipped(Noun):
    """A run of the user's that a refit does not learn from, and why."""

    run: str
    why: str


class Verdict(Noun):
    """A refit: whether it was taken, why, and how both predictors scored.

    ``new_runs`` are those that the predictor in use did not know, ``own_runs`` all of the user's
    that the refit learnt.
    """

    made_at: AwareDatetime
    taken: bool
    why: str
    own_runs: int = Field(default=0, ge=0)
    new_runs: int = Field(default=0, ge=0)
    left_out: int = Field(default=0, ge=0, description="Shipped runs that the user left out.")
    skipped: tuple[Skipped, ...] = ()
    scores: tuple[Score, ...] = ()
    seconds: float = Field(default=0.0, ge=0)
    data_hash: str = ""


class Tried(Noun):
    """The state of the store that was tried last, and how often it was begun without an end."""

    facts: str
    added: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    begun: int = Field(default=0, ge=0)

    @classmethod
    def of(cls, basis: Basis, begun: int = 0) -> Tried:
        """Return the noun of a basis."""
        return cls(
            facts=basis.facts,
            added=tuple(sorted(basis.added)),
            left_out=tuple(sorted(basis.left_out)),
            begun=begun,
        )

    @property
    def basis(self) -> Basis:
        """The basis of the noun."""
        return Basis(self.facts, frozenset(self.added), frozenset(self.left_out))


class Refits(Noun):
    """The last refits, newest first, and what was tried last."""

    verdicts: tuple[Verdict, ...] = ()
    tried: Tried | None = None

    @property
    def in_use(self) -> str:
        """The data hash of the refit that was taken last, empty without any."""
        return "" if self.taken is None else self.taken.data_hash

    @property
    def taken(self) -> Verdict | None:
        """The refit that was taken last."""
        return next((verdict for verdict in self.verdicts if verdict.taken), None)

    def judged(self, basis: Basis) -> Verdict | None:
        """Return what became of the refit on these runs, None where none has ended."""
        if self.tried is None or self.tried.basis != basis or self.tried.begun:
            return None
        return next(iter(self.verdicts), None)

    def begin(self, basis: Basis) -> Refits:
        """Return these with one more beginning."""
        again = self.tried is not None and self.tried.basis == basis
        begun = self.tried.begun + 1 if again and self.tried is not None else 1
        return self.model_copy(update={"tried": Tried.of(basis, begun)})

    def end(self, basis: Basis, verdict: Verdict) -> Refits:
        """Return these with a verdict."""
        kept = (verdict, *self.verdicts)[:MOST_VERDICTS]
        return Refits(verdicts=kept, tried=Tried.of(basis))


def read_refits(directory: Path) -> Refits:
    """Return what is known of refits; of a damaged file nothing is, and that is logged."""
    path = directory / _FILE
    try:
        return Refits.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Refits()
    except (OSError, ValueError, ValidationError):
        logger.warning("the list of refits, %s, cannot be read; it begins anew", path.name)
        return Refits()


def write_refits(directory: Path, refits: Refits) -> None:
    """Keep what is known of refits, in one move.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    with atomic(directory / _FILE) as file:
        file.write(refits.model_dump_json(indent=1).encode())
