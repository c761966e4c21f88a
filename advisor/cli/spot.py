"""The commands ``spot`` and ``running``: a plan under every policy, and a job that runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from advisor.advice import Engine
from advisor.advice.running import Run, running_forecast
from advisor.advice.spot import spot_advice
from advisor.advice.spot_question import named_plan, spot_options
from advisor.cli import spot_tables, values
from advisor.cli.commands import loaded_catalog
from advisor.cli.options import keep_runs, question_of
from advisor.core.errors import InvalidInputError
from advisor.search.constraints import DEFAULT_CHANCE, Constraints
from advisor.traces.progress import read_progress
from advisor.transient import POLICIES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from advisor.search.search import Evaluated

MOST_BYTES: Final = 60_000_000
MARKETS: Final = ("spot", "on-demand")


def add_commands(actions: Any, add_job: Callable[[argparse.ArgumentParser], None]) -> None:
    """Add the commands; `add_job` adds the options of a job."""
    command = actions.add_parser(
        "spot", help="a plan on spot machines: every policy, its bill and its chance"
    )
    command.set_defaults(run=spot)
    add_job(command)
    _add_plan(command)
    command.add_argument("--budget-usd", type=values.positive("--budget-usd"), metavar="USD")
    command.add_argument("--prices", type=Path, metavar="FILE",
                         help="price history of one machine: CSV with time, usd_per_h")  # fmt: skip
    command.add_argument("--ceiling-usd", type=values.positive("--ceiling-usd"), metavar="USD",
                         help="price of one machine above which it is given back")  # fmt: skip
    command = actions.add_parser(
        "running", help="what is left of a job that runs, from its log; read it again later"
    )
    command.set_defaults(run=running)
    command.add_argument("log", type=Path, metavar="LOG",
                         help="lines with date, time and step, or a CSV with step and elapsed_s "
                         "(and workers)")  # fmt: skip
    add_job(command)
    _add_plan(command)
    command.add_argument("--market", choices=MARKETS, default="spot",
                         help="where it runs now (default %(default)s)")  # fmt: skip
    command.add_argument("--policy", choices=list(POLICIES), default="restart", metavar="NAME",
                         help="what is done about a revocation: %(choices)s "
                         "(default %(default)s)")  # fmt: skip
    command.add_argument("--machines-age-h", type=values.positive("--machines-age-h"),
                         metavar="H", help="age of the youngest machine (default: since the last "
                         "restart in the log)")  # fmt: skip
    command.add_argument("--machines-left", type=values.whole("--machines-left"), metavar="N",
                         help="machines that still work (default: as the log says, or all)"
                         )  # fmt: skip
    command.add_argument("--slowest", type=values.positive("--slowest"), metavar="RATIO",
                         help="step of the slowest machine in that of the middle one")  # fmt: skip
    command.add_argument("--servers", type=values.whole("--servers"), default=0, metavar="N",
                         help="parameter servers, where there are any")  # fmt: skip
    command.add_argument("--alone-step-s", type=values.positive("--alone-step-s"), metavar="S",
                         help="step of one worker alone, with --servers")  # fmt: skip


def _add_plan(command: argparse.ArgumentParser) -> None:
    command.add_argument("--machines", required=True, metavar="MACHINES",
                         help="“4 x p4d.24xlarge”")  # fmt: skip
    command.add_argument("--region", default="", metavar="NAME", help="default: the cheapest")
    command.add_argument("--deadline-h", type=values.positive("--deadline-h"), metavar="H",
                         help="from the start of the job")  # fmt: skip
    command.add_argument("--chance", type=values.share("--chance"), metavar="P",
                         default=DEFAULT_CHANCE,
                         help="how sure to be of the deadline (default %(default)s)")  # fmt: skip
    command.add_argument("--interval-h", type=values.positive("--interval-h"), metavar="H",
                         help="work between checkpoints (default: Young's rule)")  # fmt: skip
    command.add_argument("--history", type=Path, metavar="FILE",
                         help="your own machines: CSV with start, stop (empty: still running) and "
                         "revoked (1 or 0)")  # fmt: skip
    command.add_argument("--samples-factor", type=values.positive("--samples-factor"), default=1.0,
                         metavar="X", help="samples that asynchronous workers need for the same "
                         "accuracy (default %(default)g)")  # fmt: skip
    command.add_argument("--wait-h", type=values.amount("--wait-h"), default=0.0, metavar="H",
                         help="after a revocation no machine can be had for so long")  # fmt: skip


def spot(options: argparse.Namespace) -> int:
    """Simulate a plan on spot machines under every policy."""
    given = spot_options(
        interval_h=options.interval_h,
        history=_text(options.history, "--history"),
        prices=_text(options.prices, "--prices"),
        ceiling_usd=options.ceiling_usd,
        samples_factor=options.samples_factor,
        wait_h=options.wait_h,
    )
    engine, evaluated, row = _plan(options, "spot")
    limits = Constraints(
        deadline_h=options.deadline_h, budget_usd=options.budget_usd, chance=options.chance
    )
    advice = spot_advice(evaluated, row, engine.catalog, limits, given)
    if options.json:
        _print_json(advice.to_dict())
    else:
        spot_tables.show_spot(advice, limits)
    return 0


def running(options: argparse.Namespace) -> int:
    """Forecast what is left of a job that runs."""
    progress = read_progress(_text(options.log, "log") or "", options.log.name)
    run = Run(
        policy=options.policy,
        deadline_h=options.deadline_h,
        chance=options.chance,
        machines_age_h=options.machines_age_h,
        machines_left=options.machines_left,
        slowest_ratio=options.slowest,
        servers=options.servers,
        alone_step_s=options.alone_step_s,
        options=spot_options(
            interval_h=options.interval_h,
            history=_text(options.history, "--history"),
            samples_factor=options.samples_factor,
            wait_h=options.wait_h,
        ),
    )
    engine, evaluated, row = _plan(options, options.market.replace("-", "_"))
    forecast = running_forecast(progress, evaluated, row, engine.catalog, run)
    if options.json:
        _print_json(forecast.to_dict())
    else:
        spot_tables.show_running(forecast)
    return 0


def _plan(options: argparse.Namespace, market: str) -> tuple[Engine, Evaluated, int]:
    catalog = loaded_catalog()
    question = question_of(options, catalog, options.machines)
    engine = Engine.open(catalog)
    keep_runs(options, question, engine)
    engine = question.calibrated(engine)
    return engine, *named_plan(options.machines, options.region, market, question.workload, engine)


def _text(path: Path | None, where: str) -> str | None:
    """Return the text of a file; None where none is given."""
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InvalidInputError(
            f"the file cannot be read ({error.strerror}).", where=f"{where} {path.name}",
            todo="Give the path of a file.",
        ) from error  # fmt: skip
    if len(content) > MOST_BYTES:
        raise InvalidInputError(
            f"more than {MOST_BYTES // 1_000_000} MB.", where=f"{where} {path.name}",
            todo="Give its last part.",
        )  # fmt: skip
    return content.decode("utf-8", errors="replace")


def _print_json(fields: dict[str, Any]) -> None:
    json.dump(fields, sys.stdout, indent=1, allow_nan=False)
    sys.stdout.write("\n")
