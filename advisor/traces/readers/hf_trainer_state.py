"""``trainer_state.json`` of the Hugging Face Trainer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from advisor.traces.draft import Draft
from advisor.traces.hf import HfSummary, apply_summary
from advisor.traces.jsons import above_zero, document, number
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace


@READERS.register("hf_trainer_state")
class HfTrainerStateReader:
    """Step time from the run time of training without its evaluations."""

    label: ClassVar[str] = "Hugging Face trainer_state.json"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 20

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See the keys that every trainer state has."""
        return (
            head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
            and b'"log_history"' in head
            and b'"global_step"' in head
        )

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the state after the last step."""
        state = document(source)
        draft = Draft(format="hf_trainer_state", framework="Hugging Face Trainer")
        listed = state.get("log_history")
        log = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
        summary = _summary(state, log)
        if summary is None:
            draft.steps = int(number(state.get("global_step")) or 0) or None
            draft.warn(
                "There is no train_runtime in this file (it is written when training ends), so "
                "step time and throughput are not available; the rates of evaluations say nothing "
                "about training."
            )
        else:
            apply_summary(draft, summary)
        draft.micro_batch = above_zero(state.get("train_batch_size"))
        return draft.finish()


def _summary(state: dict[str, Any], log: list[dict[str, Any]]) -> HfSummary | None:
    """Return the last summary of training, with the evaluations of its session."""
    ends = [i for i, row in enumerate(log) if "train_runtime" in row]
    if not ends:
        return None
    last = ends[-1]
    before = ends[-2] if len(ends) > 1 else None
    first_step = number(log[before].get("step")) if before is not None else 0.0
    steps = number(log[last].get("step")) or number(state.get("global_step"))
    session = log[(before + 1 if before is not None else 0) : last]
    return HfSummary(
        runtime_s=number(log[last]["train_runtime"]),
        samples_per_s=number(log[last].get("train_samples_per_second")),
        steps_per_s=number(log[last].get("train_steps_per_second")),
        last_step=steps,
        first_step=first_step or 0.0,
        eval_s=sum(
            number(value) or 0.0
            for row in session
            for key, value in row.items()
            if key.startswith("eval_") and key.endswith("runtime")
        ),
    )
