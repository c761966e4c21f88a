"""What the commands do; each returns its exit code."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from advisor.advice import Engine
from advisor.advice.currency import currency_named
from advisor.advice.exports import front_csv
from advisor.advice.limits import limits_named, listed_offers
from advisor.advice.question import Hardware
from advisor.catalog import load
from advisor.cli import tables
from advisor.cli.files import check_place, write_text
from advisor.cli.options import (
    keep_runs,
    limits_of,
    named_limits_of,
    question_of,
    search_options_of,
)
from advisor.cli.text import printable
from advisor.core.errors import NoFeasiblePlanError

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from advisor.catalog import Catalog
    from advisor.domain import Advice, Forecast


def advise(options: argparse.Namespace) -> int:
    """Recommend machines for a job."""
    catalog = loaded_catalog(tuple(options.own or ()))
    question = question_of(options, catalog, options.current)
    search = search_options_of(options, catalog)
    limits = limits_of(options, catalog)
    if options.csv:
        check_place(options.csv)
    engine = Engine.open(catalog)
    keep_runs(options, question, engine)
    explain = (options.explain,) if options.explain else ()
    advice = question.advice(
        engine, options=search, limits=limits, current=options.current, explain=explain
    )
    if options.csv:
        write_text(options.csv, front_csv(advice))
    if options.json:
        _print_json(advice)
    else:
        tables.show_advice(advice, limits)
        currency = currency_named(options.currency, catalog)
        if currency is not None:
            tables.show_currency(advice, currency)
    return 0


def predict(options: argparse.Namespace) -> int:
    """Predict time and memory of a job on given hardware."""
    catalog = loaded_catalog()
    hardware = Hardware(
        machines=options.machines, gpu=options.gpu, accelerators=options.accelerators
    )
    question = question_of(options, catalog, options.machines)
    engine = Engine.open(catalog)
    keep_runs(options, question, engine)
    forecast = question.forecast(engine, hardware, explain=options.explain)
    if options.json:
        _print_json(forecast)
    else:
        tables.show_forecast(forecast, question.workload)
    return 0


def catalog(options: argparse.Namespace) -> int:
    """List machines and prices, cheapest per accelerator first."""
    loaded = loaded_catalog()
    limits = limits_named(loaded, **named_limits_of(options), default_markets=None, usual=False)
    offers = listed_offers(loaded, **limits)
    if not len(offers):
        raise NoFeasiblePlanError(
            "no price matches.", where="catalog", todo="Leave out a cloud, region, gpu or market."
        )
    if options.json:
        _print_offers(offers)
    else:
        tables.show_offers(offers, options.limit, loaded)
    return 0


def loaded_catalog(own: tuple[str, ...] = ()) -> Catalog:
    """Return the catalog with these own machines; notes on it go to standard error."""
    catalog = load(own=own)
    for note in catalog.notes:
        print(f"advisor: note: {printable(note)}", file=sys.stderr)  # noqa: T201 - beside the output
    return catalog


def _print_json(noun: Advice | Forecast) -> None:
    print(json.dumps(noun.to_dict(), indent=1, allow_nan=False))  # noqa: T201 - this is the output


def _print_offers(offers: pd.DataFrame) -> None:
    dated = offers.assign(as_of=offers["as_of"].dt.strftime("%Y-%m-%d"))
    print(dated.to_json(orient="records"))  # noqa: T201 - this is the output
