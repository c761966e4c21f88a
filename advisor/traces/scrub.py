"""Personal details are taken out of every text before it is kept.

Traces and logs carry user names, host names, job names and paths. Nothing of a trace needs them.
"""

from __future__ import annotations

import re
from typing import Final

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ADDRESS: Final = re.compile(
    r"\b(?:https?|s3|gs|ssh|git)://\S+|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"
)
_PATH: Final = re.compile(
    r"(?:(?<=^)|(?<=[\s\"'=(,:]))(?:~|[A-Za-z]:)?(?:[\\/][\w.@+~#%-]+){2,}[\\/]?"
)
_LONGEST: Final = 200
_SEARCHED: Final = 5


def clean(text: str, longest: int = _LONGEST) -> str:
    r"""Return one line of text without paths, addresses and control characters.

    >>> clean("loaded /home/alice/models/llama-7b from alice@lab.example\x01 (10.0.0.7)")
    'loaded … from … (…)'
    """
    # Cut first: what comes far behind is not shown, and searching it would take long.
    shown = _CONTROL.sub(" ", text[: _SEARCHED * longest])
    for pattern in (_EMAIL, _ADDRESS, _PATH):
        shown = pattern.sub("…", shown)
    shown = " ".join(shown.split())
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def counted(number: int, noun: str) -> str:
    """Write a number with its noun.

    >>> counted(1, "event"), counted(2000, "event")
    ('1 event', '2,000 events')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def base_name(text: str) -> str:
    r"""Return the last part of a path, or a name of a hub (``owner/model``) as it is.

    >>> base_name("/home/alice/models/llama-7b/"), base_name("facebook/opt-1.3b")
    ('llama-7b', 'facebook/opt-1.3b')
    >>> base_name("C:\\Users\\alice\\net"), base_name("models/alice/net")
    ('net', 'net')
    """
    parts = [part for part in re.split(r"[\\/]+", text.strip().strip("\"'")) if part]
    rooted = text.strip().startswith(("/", "~", ".")) or "\\" in text
    if len(parts) == 2 and not rooted:
        return clean("/".join(parts))
    return clean(parts[-1]) if parts else ""
