"""The command for machines that differ: which mix of them to use, and how."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from advisor.advice import Engine
from advisor.advice.mixed_question import ask_mixed
from advisor.cli.commands import loaded_catalog
from advisor.cli.options import keep_runs, question_of
from advisor.cli.text import plain
from advisor.core.units import data_size, duration, interval, number, percent

if TYPE_CHECKING:
    import argparse

    from advisor.domain.mixed import MixedAdvice, MixPlan

SHOWN = 8


def mixed(options: argparse.Namespace) -> int:
    """Say which mix of the machines to use."""
    catalog = loaded_catalog()
    question = question_of(options, catalog, None)
    engine = Engine.open(catalog)
    keep_runs(options, question, engine)
    engine = question.calibrated(engine)
    advice = ask_mixed(
        options.inventory,
        question.workload,
        engine.catalog,
        engine.predictor,
        network_gbit_per_s=options.network_gbit,
    )
    if options.json:
        print(json.dumps(advice.to_dict(), indent=1, allow_nan=False))  # noqa: T201 - the output
    else:
        _show(advice)
    return 0


def _show(advice: MixedAdvice) -> None:
    console = Console()
    best = advice.best
    console.print(f"Best: {plain(best.inventory)}, {best.title} ({best.label}): {_step(best)}")
    for share in best.shares:
        layers = "" if share.layers is None else f", {share.layers} layers"
        console.print(
            f"  {share.devices} × {plain(share.accelerator)}: batch {share.batch:g} each in "
            f"{share.micro_batches} micro-batches{layers}, {percent(share.state_share)} of the "
            f"states, busy {percent(share.busy_share)}, {data_size(share.memory_bytes)} of "
            f"{data_size(share.capacity_bytes)}"
        )
    for one in advice.worth:
        console.print(f"{plain(one.group)}: {one.verdict}; {plain(one.reason)}")
    table = Table("machines", "strategy", "label", "step (90 %)", "samples/s")
    for plan in advice.plans[:SHOWN]:
        table.add_row(plain(plan.inventory), plan.title, plan.label, _step(plan),
                      number(plan.samples_per_s))  # fmt: skip
    console.print(table)
    for unused in advice.not_used:
        console.print(f"{unused.title}: {plain(unused.reason)}")
    console.print(f"Assumed: {plain('; '.join(advice.assumptions))}")


def _step(plan: MixPlan) -> str:
    step = plan.step_time_s
    return f"{duration(step.value)} ({interval(duration(step.low), duration(step.high))})"
