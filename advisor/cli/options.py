"""How the options of a command become a job, its limits and the search's options."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypedDict

from advisor.advice.currency import budget_in_usd, currency_named
from advisor.advice.given_values import MOST_BYTES, texts_of
from advisor.advice.job import AMOUNTS, Job
from advisor.advice.limits import constraints_named
from advisor.advice.question import Question, ask
from advisor.cli.text import printable
from advisor.core.errors import InvalidInputError
from advisor.search.data_set import DataSet
from advisor.search.search import SearchOptions
from advisor.store import Store

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from pathlib import Path

    from advisor.advice.engine import Engine
    from advisor.catalog import Catalog
    from advisor.search.constraints import Constraints


class LimitNames(TypedDict):
    """Names that limit places, devices and markets; none where nothing is said."""

    clouds: list[str]
    regions: list[str]
    gpus: list[str]
    markets: list[str]


def job_of(options: argparse.Namespace) -> Job:
    """Return the job of the options."""
    unit = next(name for name in AMOUNTS if getattr(options, name) is not None)
    return Job(
        model=options.model or "",
        amount=getattr(options, unit),
        unit=unit,
        dataset_samples=options.dataset_samples,
        sample_size=options.sample_size,
        global_batch=options.global_batch,
        precision=options.precision,
        tuning=options.finetune or "pretrain",
        lora_rank=options.lora_rank,
    )


def question_of(options: argparse.Namespace, catalog: Catalog, machines: str | None) -> Question:
    """Return the question of the options.

    Raises
    ------
    InvalidInputError
        If a file cannot be read or does not say enough, nothing says the model, or there is
        nothing to keep.
    """
    if options.save_profiles and not options.profile:
        raise InvalidInputError(
            "there are no runs to keep.", where="--save-profiles", todo="Give them with --profile."
        )
    return ask(
        job_of(options),
        catalog,
        runs=options.profile or (),
        machines=machines,
        runs_option="--profile",
    )


def keep_runs(options: argparse.Namespace, question: Question, engine: Engine) -> None:
    """Keep the runs of ``--profile`` if asked for: only such as can be used ever train.

    Raises
    ------
    InvalidInputError
        If none of them can be used; nothing is kept then.
    """
    if options.save_profiles:
        question.calibrated(engine)
        with Store.open() as store:
            store.add(question.profiles)


def search_options_of(options: argparse.Namespace, catalog: Catalog) -> SearchOptions:
    """Return the search options of the options.

    Raises
    ------
    InvalidInputError
        If the place of the data set is none that the catalog knows.
    """
    return SearchOptions(
        most_accelerators=options.max_accelerators,
        memory_margin=options.memory_margin,
        retry_share=options.retry_allowance,
        data=DataSet.stated(
            catalog,
            gb=options.data_gb,
            at=options.data_at,
            transfer_usd_per_gb=options.transfer_price,
            storage_usd_per_gb_month=options.storage_price,
        ),
    )


def limits_of(options: argparse.Namespace, catalog: Catalog) -> Constraints:
    """Return the limits of the options.

    Raises
    ------
    InvalidInputError
        If a name is unknown (offers the nearest), or a file of quotas cannot be read.
    """
    limits, notes = constraints_named(
        catalog,
        **named_limits_of(options),
        residency=_names(options.residency),
        quotas=[text for path in options.quota or () for text in _texts(path)],
        confidential=options.confidential,
        least_memory_gb=options.min_memory_gb,
        spot_usd_per_accelerator_h=options.spot_ceiling_usd,
        most_usd_per_h=options.max_usd_per_h,
        most_carbon_kg=options.max_carbon_kg,
        most_machines=options.max_machines,
        deadline_h=options.deadline_h,
        budget_usd=budget_in_usd(
            options.budget, options.budget_usd, currency_named(options.currency, catalog)
        ),
        chance=options.chance,
    )
    for note in notes:
        print(f"advisor: note: {printable(note)}", file=sys.stderr)  # noqa: T201 - beside the output
    return limits


def named_limits_of(options: argparse.Namespace) -> LimitNames:
    """Return the names of the options that limit places, devices and markets."""
    return LimitNames(
        clouds=_names(options.cloud),
        regions=_names(options.region),
        gpus=_names(options.gpu),
        markets=_names(options.market),
    )


def _names(given: Iterable[str] | None) -> list[str]:
    return [name.strip() for text in given or () for name in text.split(",") if name.strip()]


def _texts(path: Path) -> list[str]:
    """Return the text of a file, or of standard input for “-”."""
    if str(path) == "-":
        return [sys.stdin.read(MOST_BYTES)]
    return texts_of("--quota", path)
