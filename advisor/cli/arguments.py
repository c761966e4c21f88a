"""The options of every command."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final, NoReturn, get_args

from advisor import __version__
from advisor.advice.job import AMOUNTS, DEFAULT_RANK
from advisor.advice.limits import MARKET_NAMES
from advisor.advice.picks import PICKS
from advisor.cli import (
    commands,
    diff_command,
    export_command,
    mixed,
    prices,
    refit,
    report_command,
    serve,
    spot,
    stored,
    sweep_command,
    traced,
    values,
)
from advisor.core.errors import InvalidInputError
from advisor.domain import Precision
from advisor.search.constraints import DEFAULT_CHANCE

TUNINGS: Final = ("full", "lora", "qlora")


class Parser(argparse.ArgumentParser):
    """A parser whose errors are ours, so that ``--json`` has them as an object too."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments."""
        raise InvalidInputError(
            message if message.endswith((".", "?")) else f"{message}.",
            where=self.prog,
            todo=f"See “{self.prog} --help”.",
        )


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of ``python -m advisor``."""
    parser = Parser(
        prog="advisor", description="Which cloud machines for a training job, and at what price."
    )
    parser.add_argument("--version", action="version", version=f"advisor {__version__}")
    actions = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_advise(actions)
    _add_predict(actions)
    _add_mixed(actions)
    spot.add_commands(actions, _add_job)
    _add_catalog(actions)
    prices.add_commands(actions)
    traced.add_commands(actions)
    stored.add_commands(actions)
    export_command.add_commands(actions, _add_question)
    report_command.add_commands(actions, _add_question)
    diff_command.add_commands(actions)
    sweep_command.add_commands(actions)
    refit.add_commands(actions)
    _add_serve(actions)
    return parser


def _add_advise(actions: Any) -> None:
    command = actions.add_parser("advise", help="recommend machines, counts and layouts")
    command.set_defaults(run=commands.advise)
    _add_job(command)
    _add_limits(command)
    command.add_argument("--current", metavar="MACHINES",
                         help="what you run on today: “4 x p4d.24xlarge”")  # fmt: skip
    command.add_argument("--csv", type=Path, metavar="FILE", help="write the front as a table")
    command.add_argument("--explain", choices=PICKS, nargs="?", const=PICKS[0],
                         help="why a pick won (default %(const)s), what would flip that and how "
                         "sure it is; its prediction opened")  # fmt: skip


def _add_question(command: argparse.ArgumentParser) -> None:
    """Add a job with its limits that may be left out: a plan is given instead."""
    _add_job(command, required=False)
    _add_limits(command)


def _add_limits(command: argparse.ArgumentParser) -> None:
    limits = command.add_argument_group("limits")
    limits.add_argument("--deadline-h", type=values.positive("--deadline-h"), metavar="H")
    limits.add_argument("--budget-usd", type=values.positive("--budget-usd"), metavar="USD")
    limits.add_argument("--chance", type=values.share("--chance"), metavar="P",
                        default=DEFAULT_CHANCE,
                        help="how sure to be of the deadline (default %(default)s)")  # fmt: skip
    limits.add_argument("--cloud", action="append", metavar="NAME",
                        help="repeatable; by default aws, gcp, azure and own machines; any "
                        "for all")  # fmt: skip
    limits.add_argument("--region", action="append", metavar="NAME",
                        help="a region, or US, Europe, Asia")  # fmt: skip
    limits.add_argument("--gpu", action="append", metavar="NAME",
                        help="an accelerator (H100) or a family (Hopper)")  # fmt: skip
    limits.add_argument(
        "--market",
        action="append",
        metavar="NAME",
        help=f"{', '.join(MARKET_NAMES)}; by default on-demand, spot "
        "and the commitments on your list",
    )
    limits.add_argument("--residency", action="append", metavar="COUNTRY",
                        help="where machines must stand: EU, EEA, or countries")  # fmt: skip
    limits.add_argument("--confidential", action="store_true",
                        help="accelerators in confidential machines only")  # fmt: skip
    limits.add_argument("--min-memory-gb", type=values.positive("--min-memory-gb"), metavar="GB",
                        help="memory of one accelerator, at least")  # fmt: skip
    limits.add_argument("--spot-ceiling-usd", type=values.positive("--spot-ceiling-usd"),
                        metavar="USD", help="spot price per accelerator-hour, at most")  # fmt: skip
    limits.add_argument("--max-usd-per-h", type=values.positive("--max-usd-per-h"), metavar="USD",
                        help="price of all machines per hour, at most")  # fmt: skip
    limits.add_argument("--own", action="append", metavar="MACHINES",
                        help="machines you own or hold: “2 x 8 H100 at 0.9 over 400 Gbit/s”, the "
                        "price in USD per accelerator-hour; repeatable")  # fmt: skip
    limits.add_argument("--max-carbon-kg", type=values.positive("--max-carbon-kg"), metavar="KG",
                        help="CO2e of the job, at most; needs your list carbon")  # fmt: skip
    limits.add_argument("--currency", default="", metavar="CODE",
                        help="say costs in it too, by your list rates")  # fmt: skip
    limits.add_argument("--budget", type=values.positive("--budget"), metavar="AMOUNT",
                        help="budget in --currency")  # fmt: skip
    limits.add_argument("--quota", action="append", type=Path, metavar="FILE",
                        help="what your accounts may run: JSON of aws service-quotas, gcloud "
                        "compute regions describe or az vm list-usage, or a table type,count; "
                        "repeatable, - for standard input")  # fmt: skip
    limits.add_argument("--max-machines", type=values.whole("--max-machines"), metavar="N")
    limits.add_argument("--max-accelerators", type=values.whole("--max-accelerators"), metavar="N",
                        default=512, help="largest cluster (default %(default)s)")  # fmt: skip
    limits.add_argument("--memory-margin", type=values.share("--memory-margin"), metavar="SHARE",
                        default=0.1, help="device memory left free (default 0.1)")  # fmt: skip
    limits.add_argument("--retry-allowance", type=values.allowance, metavar="SHARE", default=0.0,
                        help="extra hours for restarts, 0.1 is 10 %% (default 0)")  # fmt: skip
    data = command.add_argument_group("data set (stored while the job runs, moved to the machines)")
    data.add_argument("--data-gb", type=values.amount("--data-gb"), metavar="GB", help="its size")
    data.add_argument("--data-at", default="", metavar="PLACE",
                      help="where it lies, as aws:us-east-1; the weights go back there "
                      "(default: where the machines are)")  # fmt: skip
    data.add_argument("--transfer-price", type=values.amount("--transfer-price"), metavar="USD/GB",
                      help="what moving it costs you (default: list price)")  # fmt: skip
    data.add_argument("--storage-price", type=values.amount("--storage-price"),
                      metavar="USD/GB-MONTH", help="what storing data and checkpoints costs you "
                      "(default: list price)")  # fmt: skip


def _add_predict(actions: Any) -> None:
    command = actions.add_parser("predict", help="time and memory on given hardware")
    command.set_defaults(run=commands.predict)
    _add_job(command)
    where = command.add_argument_group("hardware (machines, or a number of accelerators)")
    where.add_argument("--machines", metavar="MACHINES", help="“128 x p4de.24xlarge”")
    where.add_argument("--gpu", metavar="NAME", help="accelerator, with --accelerators")
    where.add_argument("--accelerators", type=values.whole("--accelerators"), metavar="N")
    command.add_argument(
        "--explain",
        action="store_true",
        help="open the prediction: its parts and the nearest measured runs",
    )


def _add_mixed(actions: Any) -> None:
    command = actions.add_parser("mixed", help="which mix of unequal machines to use, and how")
    command.set_defaults(run=mixed.mixed)
    _add_job(command)
    command.add_argument("--inventory", required=True, metavar="MACHINES",
                         help="what is there: “2 x L4, A6000, P40” or instance types")  # fmt: skip
    command.add_argument("--network-gbit", type=values.positive("--network-gbit"), default=10.0,
                         metavar="GBIT/S", help="between machines, where the catalog knows none "
                         "(default %(default)g)")  # fmt: skip


def _add_catalog(actions: Any) -> None:
    command = actions.add_parser("catalog", help="machines and prices")
    command.set_defaults(run=commands.catalog)
    for name in ("--cloud", "--region", "--gpu", "--market"):
        command.add_argument(name, action="append", metavar="NAME")
    command.add_argument("--limit", type=values.whole("--limit"), default=40, metavar="N",
                         help="rows to print; --json prints all (default %(default)s)")  # fmt: skip
    command.add_argument("--json", action="store_true", help="print JSON")


def _add_serve(actions: Any) -> None:
    command = actions.add_parser("serve", help="open the app on 127.0.0.1")
    command.set_defaults(run=serve.serve)
    command.add_argument("--port", type=values.port, default=None,
                         help="default: the variable PORT, else a free port")  # fmt: skip


def _add_job(command: argparse.ArgumentParser, *, required: bool = True) -> None:
    job = command.add_argument_group("job")
    job.add_argument("--model", metavar="MODEL",
                     help="zoo name, a Hugging Face config.json, or a size such as 7B; may be "
                     "left out where a --profile names it")  # fmt: skip
    job.add_argument("--finetune", choices=TUNINGS, help="tune a trained model")
    job.add_argument(
        "--lora-rank", type=values.whole("--lora-rank"), default=DEFAULT_RANK, metavar="R"
    )
    amount = job.add_mutually_exclusive_group(required=required)
    for name in AMOUNTS:
        amount.add_argument(f"--{name}", type=values.count(name), metavar="N")
    job.add_argument("--dataset-samples", type=values.count("dataset samples"), metavar="N")
    job.add_argument("--seq-len", "--resolution", dest="sample_size", metavar="N",
                     type=values.whole("--seq-len"))  # fmt: skip
    job.add_argument("--global-batch", type=values.whole("--global-batch"), metavar="N")
    job.add_argument("--precision", choices=get_args(Precision), default="bf16")
    own = command.add_argument_group("your own runs")
    own.add_argument("--profile", action="append", type=Path, metavar="FILE",
                     help="a trace, log or table of runs to calibrate by; repeatable")  # fmt: skip
    own.add_argument("--save-profiles", action="store_true",
                     help="keep them: they calibrate every later prediction")  # fmt: skip
    command.add_argument("--json", action="store_true", help="print JSON")
