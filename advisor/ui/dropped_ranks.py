"""Files of one job that were dropped together: its ranks become one card."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.advice.diagnosis import diagnose
from advisor.traces.grouping import one_job
from advisor.traces.guesses import guess
from advisor.traces.job import Part, join

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.ui.reads import Upload


def with_jobs(uploads: Iterable[Upload]) -> list[Upload]:
    """Return the files with those that came together and are ranks of one job as one.

    A rank that came with them but was read later joins them. Files of different jobs, and of
    different drops, stay apart.
    """
    kept: list[Upload] = []
    groups: dict[tuple[object, ...], list[Upload]] = {}
    for upload in uploads:
        trace = upload.traces[0] if len(upload.traces) == 1 else None
        if trace is None or not trace.ranks or upload.batch is None:
            kept.append(upload)
        else:
            alike = (upload.batch, trace.format, trace.gpus, trace.gpu_name)
            groups.setdefault(alike, []).append(upload)
    for group in groups.values():
        parts = [part for upload in group for part in _parts(upload)]
        joins = len(group) > 1 and one_job(parts)
        kept += [_job(group[0], parts)] if joins else group
    return sorted(kept, key=lambda upload: upload.number)


def _parts(upload: Upload) -> tuple[Part, ...]:
    return upload.parts or (Part(upload.name, upload.traces[0]),)


def _job(first: Upload, parts: list[Part]) -> Upload:
    name = f"{len(parts)} files: {parts[0].name} …"
    trace = join(parts, name)
    return replace(first, name=name, traces=(trace,), findings=diagnose(trace),
                   guesses=guess(trace), parts=tuple(parts))  # fmt: skip
