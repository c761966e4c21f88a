"""What the Hugging Face Trainer prints."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.traces.draft import Draft
from advisor.traces.hf import HfSummary, apply_summary
from advisor.traces.jsons import above_zero
from advisor.traces.logs import LogFacts
from advisor.traces.rates import set_throughput
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SNIFF: Final = re.compile(
    rb"\{[^{}\n]{0,400}'train_runtime': |\*\*\*\*\* train metrics \*\*\*\*\*|^ *train_runtime +=",
    re.MULTILINE,
)
# The table that the example scripts print behind the summary.
_METRIC: Final = re.compile(r"^\s*(train_\w+)\s+=\s+([\d.:]+(?:e[+-]?\d+)?)\s*$")
_BAR: Final = re.compile(r"100%\|[^|]*\| *(\d{1,12})/(\d{1,12}) \[")
# The trainer rounds its steps per second to this.
_ROUNDED: Final = 0.0005
_SUMMARY: Final = re.compile(r"'(train_\w+)': '?([\d.]+(?:e[+-]?\d+)?)'?")
_EVALUATION: Final = re.compile(r"'eval_(?:\w+_)?runtime': '?([\d.]+)'?")
_HEADER: Final = {
    "device_batch": re.compile(r"Instantaneous batch size per device = ([\d,]+)"),
    "batch": re.compile(r"Total train batch size \([^)]*\) = ([\d,]+)"),
    "accumulation": re.compile(r"Gradient Accumulation steps = ([\d,]+)"),
    "steps": re.compile(r"Total optimization steps = ([\d,]+)"),
    "params": re.compile(r"Number of trainable parameters = ([\d,]+)"),
    "resumed": re.compile(r"Continuing training from global step ([\d,]+)"),
}


@dataclass
class _Found:
    header: dict[str, float] = field(default_factory=dict)
    summary: dict[str, float] = field(default_factory=dict)
    eval_s: float = 0.0
    session_eval_s: float = 0.0
    bars: list[float] = field(default_factory=list)

    def feed(self, line: str) -> None:
        if "100%|" in line:
            self.bars += [float(done) for done, of in _BAR.findall(line) if done == of]
        if "'train_runtime'" in line:
            # Every rank prints it; the slowest is the job's.
            row = {key: above_zero(text) or 0.0 for key, text in _SUMMARY.findall(line)}
            if row.get("train_runtime", 0.0) > self.summary.get("train_runtime", 0.0):
                self.summary = row
            self.session_eval_s = self.session_eval_s or self.eval_s
        elif evaluation := _EVALUATION.search(line) if "eval_" in line else None:
            self.eval_s += above_zero(evaluation[1]) or 0.0
        elif metric := _METRIC.match(line) if "train_" in line else None:
            if (value := _plain(metric[2])) is not None:
                self.summary.setdefault(metric[1], value)
        elif " = " in line or "global step" in line:
            for name, pattern in _HEADER.items():
                found = pattern.search(line)
                value = above_zero(found[1].replace(",", "")) if found else None
                if value is not None:
                    self.header[name] = value

    @property
    def last_step(self) -> float | None:
        """Steps as the header says; else of the finished progress bar that fits the rate."""
        runtime_s = self.summary.get("train_runtime")
        rate = self.summary.get("train_steps_per_second")
        if "steps" in self.header or not runtime_s or not rate:
            return self.header.get("steps")
        # Evaluations have bars, too.
        fitting = [bar for bar in self.bars if abs(bar / runtime_s - rate) <= 1.01 * _ROUNDED]
        return max(fitting, default=None)


def _plain(text: str) -> float | None:
    """Return a number, or the seconds of a time like 1:02:03.50."""
    parts = [above_zero(part) or 0.0 for part in text.split(":")]
    return above_zero(sum(part * 60**power for power, part in enumerate(reversed(parts))))


@READERS.register("hf_trainer_stdout")
class HfStdoutReader:
    """Step time from the summary at the end, batch from the header at the start."""

    label: ClassVar[str] = "Hugging Face Trainer output"
    anywhere: ClassVar[bool] = True
    order: ClassVar[int] = 12

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See the summary at the end of training."""
        return _SNIFF.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the output of one job."""
        facts, found = LogFacts(), _Found()
        for line in source.lines():
            facts.feed(line)
            found.feed(line)
        if not found.summary.get("train_runtime"):
            raise TraceError(
                "the summary of the training has no run time.",
                where=source.name,
                todo="Upload the whole output.",
            )
        draft = Draft(format="hf_trainer_stdout", framework="Hugging Face Trainer")
        head = found.header
        apply_summary(
            draft,
            HfSummary(
                runtime_s=found.summary.get("train_runtime"),
                samples_per_s=found.summary.get("train_samples_per_second"),
                steps_per_s=found.summary.get("train_steps_per_second"),
                last_step=found.last_step,
                first_step=head.get("resumed", 0.0),
                eval_s=found.session_eval_s,
            ),
        )
        draft.micro_batch, draft.params = head.get("device_batch"), head.get("params")
        draft.global_batch = head.get("batch") or draft.global_batch
        if draft.throughput is None and draft.global_batch and draft.step_time_s:
            set_throughput(draft, draft.global_batch, "samples/s")
        if draft.global_batch and draft.micro_batch:
            draft.gpus = int(
                draft.global_batch // (draft.micro_batch * head.get("accumulation", 1.0))
            )
        facts.describe(draft)
        return draft.finish()
