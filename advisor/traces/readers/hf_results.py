"""``all_results.json`` and ``train_results.json`` of the Hugging Face Trainer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from advisor.traces.draft import Draft
from advisor.traces.hf import HfSummary, apply_summary
from advisor.traces.jsons import document, number
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace


@READERS.register("hf_all_results")
class HfResultsReader:
    """Throughput only: the number of steps is in no file of this kind."""

    label: ClassVar[str] = "Hugging Face all_results.json"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 25

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See a flat summary; in a trainer state or a W&B summary it has other company."""
        return (
            head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
            and (b'"train_runtime"' in head or b'"eval_runtime"' in head)
            and not any(key in head for key in (b'"log_history"', b'"_step"', b'"_runtime"'))
        )

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the summary."""
        results = document(source)
        evaluated = any(key.startswith("eval_") for key in results)
        draft = Draft(
            format="hf_all_results" if evaluated else "hf_train_results",
            framework="Hugging Face Trainer",
        )
        if "train_runtime" not in results:
            draft.warn("These are results of an evaluation; they say nothing about training.")
            return draft.finish()
        summary = HfSummary(
            runtime_s=number(results["train_runtime"]),
            samples_per_s=number(results.get("train_samples_per_second")),
            steps_per_s=number(results.get("train_steps_per_second")),
            last_step=None,
        )
        apply_summary(draft, summary)
        if "train_samples" in results:
            draft.warn("train_samples is the size of the data set, not what the run has seen.")
        return draft.finish()
