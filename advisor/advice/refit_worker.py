"""Refits in the background: when one is due, and the process that makes it."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from filelock import FileLock, Timeout

from advisor.core.errors import InvalidInputError
from advisor.core.paths import TABLES_DIR, data_dir

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from advisor.advice.refits import Refits
    from advisor.predictor.predictor import Basis

FEWEST_NEW: Final = 5
SWITCH: Final = "ADVISOR_REFIT"
"""``off`` keeps refits from beginning by themselves."""
_LOWEST_PRIORITY: Final = 19
_LOCK: Final = "refit.lock"
_started: list[subprocess.Popen[bytes]] = []


def is_due(wanted: Basis, current: Basis | None, refits: Refits) -> bool:
    """Return whether the store has changed enough since the last refit, whatever came of it.

    It has by `FEWEST_NEW` runs of the user's that are new, or by one that is in use no more.

    Parameters
    ----------
    wanted : Basis
        The runs in use.
    current : Basis or None
        What the predictor in use has learnt.
    refits : Refits
        What was tried before.
    """
    if current is None or wanted == current:
        return False
    tried = refits.tried
    if tried is not None and tried.basis == wanted:
        # It was stopped before it ended, or taken and its file is lost.
        verdict = refits.judged(wanted)
        return verdict is None or verdict.taken
    last = tried.basis if tried is not None and tried.facts == wanted.facts else current
    gone = (last.added - wanted.added) | (last.left_out ^ wanted.left_out)
    return bool(gone) or len(wanted.added - last.added) >= FEWEST_NEW


@contextmanager
def alone(directory: Path) -> Iterator[None]:
    """Hold the only place of a refit; the system frees it when the process ends, however it ends.

    Raises
    ------
    InvalidInputError
        If a refit is running.
    """
    lock = FileLock(directory / _LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise InvalidInputError(
            "a refit is running.", where="refit", todo="Wait until it has ended."
        ) from None
    try:
        yield
    finally:
        lock.release()


def is_running(directory: Path) -> bool:
    """Return whether a refit is running, in this process or any other."""
    _started[:] = [worker for worker in _started if worker.poll() is None]
    if _started:
        return True
    try:
        with alone(directory):
            return False
    except InvalidInputError:
        return True


def begins_by_itself() -> bool:
    """Return whether refits begin without being asked for."""
    return os.environ.get(SWITCH, "").strip().lower() != "off"


def start() -> bool:
    """Begin a refit in a process of its own; return False where one is running already.

    It goes on when this process ends, and gives way to everything else.
    """
    if is_running(data_dir()):
        return False
    command = [sys.executable, "-m", "advisor", "refit", "--background"]
    _started.append(
        subprocess.Popen(  # noqa: S603 - our own
            command, cwd=TABLES_DIR.parent, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )
    )  # fmt: skip
    return True


def give_way() -> None:
    """Let every other process go first, where the system knows priorities."""
    if hasattr(os, "nice"):
        os.nice(_LOWEST_PRIORITY)
