"""The user's runs behind an answer, in the terminal."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from advisor.cli.tables import show_own_runs
from advisor.domain import OwnRun, OwnRuns, UnusedRun


def shown(*measured_s: float) -> str:
    used = tuple(
        OwnRun(model="gpt-2", accelerator="A100-40GB", accelerators=8, global_batch=64,
               measured_s=step_s, predicted_s=0.1)
        for step_s in measured_s
    )  # fmt: skip
    out = Console(file=StringIO(), width=200)
    show_own_runs(out, OwnRuns(used=used, unused=(UnusedRun(name="x", reason="no batch"),)))
    assert isinstance(out.file, StringIO)
    return out.file.getvalue()


def test_a_run_far_from_what_is_predicted_is_to_be_checked() -> None:
    assert "77.0 times off what is predicted: check it" in shown(0.2, 7.7)


def test_runs_near_what_is_predicted_raise_no_doubt_and_unused_ones_are_named() -> None:
    said = shown(0.2)
    assert "check it" not in said
    assert "not used: x: no batch" in said
