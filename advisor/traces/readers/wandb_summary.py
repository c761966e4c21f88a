"""``wandb-summary.json`` of a run on Weights & Biases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from advisor.traces.draft import Draft
from advisor.traces.hf import HfSummary, apply_summary
from advisor.traces.jsons import document, number
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace


@READERS.register("wandb_summary")
class WandbSummaryReader:
    """The last values of a run; those of the Hugging Face Trainer give a step time."""

    label: ClassVar[str] = "W&B summary"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 21

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See the keys that every summary has."""
        return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and (
            b'"_runtime"' in head and (b'"_step"' in head or b'"_timestamp"' in head)
        )

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the summary."""
        values = document(source)
        draft = Draft(format="wandb_summary")
        if _find(values, "train_runtime") is None:
            draft.warn(
                "The summary has no train_runtime, and its _step counts what was logged, not "
                "optimizer steps: step time not available. Add the log or a profiler trace."
            )
            return draft.finish()
        draft.framework = "Hugging Face Trainer"
        apply_summary(
            draft,
            HfSummary(
                runtime_s=_find(values, "train_runtime"),
                samples_per_s=_find(values, "train_samples_per_second"),
                steps_per_s=_find(values, "train_steps_per_second"),
                last_step=_find(values, "global_step"),
            ),
        )
        return draft.finish()


def _find(values: dict[str, Any], name: str) -> float | None:
    """Return a value; newer versions put “train/” before its name."""
    return number(values.get(f"train/{name}", values.get(name)))
