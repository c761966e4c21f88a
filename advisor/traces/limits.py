"""What a file may cost before it is refused: an uploaded file is not trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MIB: Final = 2**20


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Caps on one upload; all counts are of decompressed content.

    Attributes
    ----------
    content_bytes : int
        Largest content of a file, or of all members of an archive together.
    ratio : int
        Largest ratio of content to compressed size; looked at above `ratio_from_bytes`, because
        a short repetitive log compresses well and harms nobody.
    ratio_from_bytes : int
        See `ratio`.
    nesting : int
        Most layers of compression around a file.
    line_bytes : int
        Longest line of a text log; the rest of a longer line is skipped.
    event_bytes : int
        Longest event of a trace and longest header around its events.
    document_bytes : int
        Largest JSON document that is read whole (trainer states, run summaries).
    search_bytes : int
        How far into a text its format is looked for.
    events : int
        Most events of a trace.
    broken_events : int
        Most events that are not valid JSON; each is mended with some effort.
    names : int
        Most distinct kernel names; further ones are counted together.
    members : int
        Most members of an archive or files of a directory.
    processes : int
        Most processes that read such files side by side; 1 reads them one by one.
    processes_from_bytes : int
        Content, as far as its size can be told before, from which on that is worth beginning
        processes.
    """

    content_bytes: int = 2 * 10**9
    ratio: int = 200
    ratio_from_bytes: int = 64 * MIB
    nesting: int = 2
    line_bytes: int = MIB
    event_bytes: int = 64 * MIB
    document_bytes: int = 256 * MIB
    search_bytes: int = 128 * MIB
    events: int = 100_000_000
    broken_events: int = 1_000_000
    names: int = 100_000
    members: int = 4096
    processes: int = 8
    processes_from_bytes: int = 128 * MIB


DEFAULT_LIMITS: Final = Limits()
