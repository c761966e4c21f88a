"""The user's measured runs in the store, as an address names them to calibrate by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from advisor import zoo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.domain import Profile
    from advisor.store import Store

KEY_LETTERS: Final = 12
MOST_KEYS: Final = 20  # an address is to stay short
_KEY: Final = re.compile(f"^[0-9a-f]{{{KEY_LETTERS},64}}$")
_WHY: Final = {
    "outlier": "was marked as an outlier",
    "superseded": "was corrected; the corrected run has another key",
    "deleted": "was deleted",
}
_GONE: Final = "was changed a moment ago"


@dataclass(frozen=True, slots=True)
class KeptRuns:
    """Own runs in use, in the order of their keys; ``unknown`` has the other keys and why."""

    profiles: tuple[Profile, ...] = ()
    unknown: tuple[tuple[str, str], ...] = ()


def key_of(run: Profile) -> str:
    """Return the key that names a run in an address."""
    return run.content_hash[:KEY_LETTERS]


def kept_runs(store: Store, keys: Sequence[str]) -> KeptRuns:
    """Look keys up among the user's own runs; an address can hold anything.

    Parameters
    ----------
    keys : sequence of str
        Beginnings of content hashes.
    """
    if not keys:
        return KeptRuns()
    own = store.profiles(origin="user", state=None)
    states = dict(zip(own["content_hash"], own["state"], strict=True))
    found: list[str] = []
    unknown: list[tuple[str, str]] = []
    distinct = list(dict.fromkeys(keys))
    for key in distinct[:MOST_KEYS]:
        whole = next((h for h in states if h.startswith(key)), None) if _KEY.match(key) else None
        if whole is None:
            unknown.append((key, "is not among your runs"))
        elif states[whole] != "active":
            unknown.append((key, _WHY[states[whole]]))
        else:
            found.append(whole)
    if len(distinct) > MOST_KEYS:
        left_out = f"{len(distinct) - MOST_KEYS:,} more"
        unknown.append((left_out, f"are left out: at most {MOST_KEYS} runs calibrate an answer"))
    runs = {run.content_hash: run for run in store.measured_runs(content_hash=found)}
    # Another page may have deleted or corrected one since its state was read.
    unknown += [(gone[:KEY_LETTERS], _GONE) for gone in dict.fromkeys(found) if gone not in runs]
    kept = tuple(runs[whole] for whole in dict.fromkeys(found) if whole in runs)
    return KeptRuns(kept, tuple(unknown))


def keys_to_offer(store: Store, model: str) -> list[str]:
    """Return keys of own runs in use, those of `model` first, then the newest."""
    own = store.profiles(origin="user")
    if not len(own):
        return []
    wanted = zoo.named(model)
    same = {name: zoo.named(name) == wanted for name in own["model"].unique()}
    alike = own["model"].map(same) if wanted is not None else own["model"] == model
    order = own.assign(alike=alike).sort_values(["alike", "created_at"], ascending=False)
    return [str(whole)[:KEY_LETTERS] for whole in order["content_hash"].head(MOST_KEYS)]
