"""How far a read is: bytes of the file, and steps seen in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.core.errors import AdvisorError

if TYPE_CHECKING:
    from advisor.traces.streams import Progress


class ReadCancelledError(AdvisorError):
    """Raised by a `Progress` to end the read that it watches; nothing of it is kept."""


def tell_steps(progress: Progress | None, steps: int) -> None:
    """Tell who watches how many steps were seen, if there is a method ``steps`` that asks."""
    told = getattr(progress, "steps", None)
    if told is not None:
        told(steps)


@dataclass(frozen=True, slots=True)
class Portion:
    """Watches a member of an archive on behalf of who watches the archive.

    Parameters
    ----------
    progress : callable
        Of the archive.
    before_bytes, size_bytes, all_bytes : int
        What of the archive lies before the member and is the member, and all of it; as the
        archive counts.
    """

    progress: Progress
    before_bytes: int
    size_bytes: int
    all_bytes: int

    def __call__(self, done_bytes: int, all_bytes: int) -> None:
        """Tell how far the archive is."""
        part = self.size_bytes * min(done_bytes, all_bytes) // max(all_bytes, 1)
        self.progress(self.before_bytes + part, self.all_bytes)

    def steps(self, count: int) -> None:
        """Tell how many steps were seen in the member."""
        tell_steps(self.progress, count)


class Furthest:
    """Passes on how far a read is, and never less than before.

    Parameters
    ----------
    progress : callable
        Who watches.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._told = (0, 0)

    def __call__(self, done_bytes: int, all_bytes: int) -> None:
        """Tell how far the read is."""
        self._told = max(self._told, (done_bytes, all_bytes))
        self._progress(*self._told)

    def steps(self, count: int) -> None:
        """Tell how many steps were seen."""
        tell_steps(self._progress, count)

    def again(self) -> None:
        """Tell the same once more, which lets the one who watches end the read."""
        self._progress(*self._told)
