"""The process that reads files for another one: a request a line in, an answer a line out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from advisor.core.errors import TraceError
from advisor.traces.limits import Limits
from advisor.traces.reading import read, read_member
from advisor.traces.source import Source
from advisor.traces.trace import CutOffError


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Read the file that is asked for, and return what it says or why it cannot be read.

    Parameters
    ----------
    request : dict
        ``path``; ``name`` for messages; ``is_member`` of an archive or not; ``limits``.
    """
    limits = Limits(**request["limits"])
    path, name = Path(request["path"]), request["name"]
    said: dict[str, Any] = {"content_bytes": 0}
    try:
        if request["is_member"]:
            source = Source(path, name, limits)
            said["trace"] = read_member(source).model_dump(mode="json")
            said["content_bytes"] = source.content_bytes if source.compressions else 0
        else:
            said["trace"] = read(path, name, limits=limits).model_dump(mode="json")
    except TraceError as error:
        said["error"] = {"what": error.what, "where": error.where, "todo": error.todo}
        if isinstance(error, CutOffError):
            said["readable"] = error.readable.model_dump(mode="json")
    return said


def main() -> None:
    """Answer until there is nothing left to ask."""
    out, sys.stdout = sys.stdout, sys.stderr  # whatever a library prints is no answer
    for line in sys.stdin:
        out.write(json.dumps(answer(json.loads(line))) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
