"""Pages of TensorBoard's profiler, saved as JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.traces.draft import Draft
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SNIFF: Final = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*+(?:\[\s*+)?\{\s*+"(?:cols|p)"\s*:\s*[\[{]')


@READERS.register("tensorboard_profile_overview_json")
class OverviewPageReader:
    """Recognised and explained."""

    label: ClassVar[str] = "TensorBoard profile page (explained only)"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 2

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See a table of a chart."""
        return _SNIFF.match(head) is not None and b'"cols"' in head and b'"label"' in head

    @staticmethod
    def read(source: Source) -> Trace:  # noqa: ARG004 - a table for a chart
        """Say what to upload instead."""
        draft = Draft(format="tensorboard_profile_overview_json")
        draft.warn(
            "This is a page of a report and no trace; upload the trace.json.gz that the profiler "
            "wrote."
        )
        return draft.finish()
