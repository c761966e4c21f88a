"""What the commands do; each returns its exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from advisor.advice import Engine
from advisor.advice.advise import advise as make_advice
from advisor.advice.exports import front_csv
from advisor.advice.forecast import (
    current_plan,
    forecast_on_accelerators,
    forecast_on_machines,
)
from advisor.advice.limits import listed_offers
from advisor.catalog import load
from advisor.cli import tables
from advisor.cli.files import check_place, write_text
from advisor.cli.options import limits_of, named_limits_of, search_options_of
from advisor.cli.own_runs import given_runs
from advisor.core.errors import InvalidInputError, NoFeasiblePlanError

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from advisor.domain.base import Noun

ONLY_IF_ANY: Final = ("own_runs", "caveats")  # keys that an answer without them lacks


def advise(options: argparse.Namespace) -> int:
    """Recommend machines for a job."""
    catalog = load()
    given = given_runs(options, catalog, options.current)
    workload = given.job.workload()
    search = search_options_of(options)
    limits = limits_of(options, catalog)
    if options.csv:
        check_place(options.csv)
    engine = given.calibrated(Engine.open(catalog), workload)
    current = None
    if options.current:
        current = current_plan(options.current, workload, engine, limits.deadline_h, search)
    advice = make_advice(workload, engine, options=search, limits=limits, current=current)
    if options.csv:
        write_text(options.csv, front_csv(advice))
    if options.json:
        _print_json(advice)
    else:
        tables.show_advice(advice, limits)
    return 0


def predict(options: argparse.Namespace) -> int:
    """Predict time and memory of a job on given hardware."""
    catalog = load()
    given = given_runs(options, catalog, options.machines)
    workload = given.job.workload()
    by_machines = options.machines is not None
    by_accelerators = options.gpu is not None and options.accelerators is not None
    if by_machines == by_accelerators:
        raise InvalidInputError(
            "the hardware is not clear.",
            where="predict",
            todo="Give --machines “4 x p4d.24xlarge”, or --gpu A100-80GB --accelerators 32.",
        )
    engine = given.calibrated(Engine.open(catalog), workload)
    if by_machines:
        forecast = forecast_on_machines(options.machines, workload, engine)
    else:
        forecast = forecast_on_accelerators(options.gpu, options.accelerators, workload, engine)
    if options.json:
        _print_json(forecast)
    else:
        tables.show_forecast(forecast, workload)
    return 0


def catalog(options: argparse.Namespace) -> int:
    """List machines and prices, cheapest per accelerator first."""
    loaded = load()
    offers = listed_offers(
        loaded, **named_limits_of(options, loaded, default_markets=None, default_clouds=None)
    )
    if not len(offers):
        raise NoFeasiblePlanError(
            "no price matches.", where="catalog", todo="Leave out a cloud, region, gpu or market."
        )
    if options.json:
        _print_offers(offers)
    else:
        tables.show_offers(offers, options.limit, loaded)
    return 0


def _print_json(noun: Noun) -> None:
    fields: dict[str, Any] = noun.model_dump(mode="json")
    for name in ONLY_IF_ANY:
        if not fields.get(name):
            fields.pop(name, None)
    print(json.dumps(fields, indent=1, allow_nan=False))  # noqa: T201 - this is the output


def _print_offers(offers: pd.DataFrame) -> None:
    dated = offers.assign(as_of=offers["as_of"].dt.strftime("%Y-%m-%d"))
    print(dated.to_json(orient="records"))  # noqa: T201 - this is the output
