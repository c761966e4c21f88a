"""The Python API: `advise`, `predict` and `read_trace`, as the command line answers them.

The catalog, the store and the predictor are opened once per process, at the first question.
"""

from __future__ import annotations

import io
import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pandas as pd

from advisor import domain
from advisor.advice import Engine
from advisor.advice.attribution import difference
from advisor.advice.currency import budget_in_usd, currency_named
from advisor.advice.exports import front_csv
from advisor.advice.given_job import Finetune, job_of, picks_of
from advisor.advice.given_values import (
    Amount,
    Names,
    Quotas,
    count_of,
    names_of,
    texts_of,
    whole_of,
)
from advisor.advice.job import DEFAULT_RANK
from advisor.advice.limits import constraints_named
from advisor.advice.opened import catalog_of, engine_of
from advisor.advice.proposals import propose
from advisor.advice.question import Hardware, ask
from advisor.advice.sharing import export_plan as export
from advisor.advice.sharing import proposal_in
from advisor.advice.sharing import write_report as report
from advisor.advice.spot_api import running, spot
from advisor.catalog import load
from advisor.core.errors import (
    AdvisorError,
    CatalogError,
    InvalidInputError,
    NoFeasiblePlanError,
    PredictionError,
    StoreError,
    TraceError,
    UnknownNameError,
)
from advisor.domain import Forecast, PlanDifference, Precision, Profile, Proposal
from advisor.search.constraints import DEFAULT_CHANCE
from advisor.search.data_set import DataSet
from advisor.search.search import SearchOptions
from advisor.traces import Trace, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.advice.question import OwnRun
    from advisor.advice.sharing import Source
    from advisor.traces.reading import File

__all__ = [
    "Advice",
    "AdvisorError",
    "CatalogError",
    "Engine",
    "Forecast",
    "InvalidInputError",
    "NoFeasiblePlanError",
    "PlanDifference",
    "PredictionError",
    "Profile",
    "Proposal",
    "StoreError",
    "Trace",
    "TraceError",
    "UnknownNameError",
    "advise",
    "diff",
    "export",
    "predict",
    "propose",
    "read_trace",
    "report",
    "running",
    "spot",
]

USUAL: Final = SearchOptions()
logger = logging.getLogger(__name__)


class Advice(domain.Advice):
    """Picks by name, the Pareto front, and an account of the search."""

    def to_frame(self) -> pd.DataFrame:
        """Return the picks and the front, one plan a row, cheapest first.

        Returns
        -------
        DataFrame
            The columns of the command's ``--csv``, units in their names.
        """
        return pd.read_csv(io.StringIO(front_csv(self)))


def advise(
    model: str | Path = "",
    *,
    tokens: Amount | None = None,
    epochs: Amount | None = None,
    steps: Amount | None = None,
    samples: Amount | None = None,
    dataset_samples: Amount | None = None,
    sequence_length: Amount | None = None,
    resolution: Amount | None = None,
    global_batch: Amount | None = None,
    precision: Precision = "bf16",
    finetune: Finetune | None = None,
    lora_rank: int = DEFAULT_RANK,
    deadline_h: float | None = None,
    budget_usd: float | None = None,
    chance: float = DEFAULT_CHANCE,
    clouds: Names = (),
    regions: Names = (),
    gpus: Names = (),
    markets: Names = (),
    residency: Names = (),
    confidential: bool = False,
    min_memory_gb: Amount | None = None,
    spot_ceiling_usd: Amount | None = None,
    max_usd_per_h: Amount | None = None,
    own: str | Sequence[str] = (),
    max_carbon_kg: Amount | None = None,
    currency: str = "",
    budget: Amount | None = None,
    quotas: Quotas = (),
    max_machines: int | None = None,
    max_accelerators: int = USUAL.most_accelerators,
    memory_margin: float = USUAL.memory_margin,
    retry_allowance: float = USUAL.retry_share,
    data_gb: Amount | None = None,
    data_at: str = "",
    transfer_usd_per_gb: float | None = None,
    storage_usd_per_gb_month: float | None = None,
    current: str | None = None,
    profiles: Iterable[OwnRun] = (),
    explain: Names = (),
    engine: Engine | None = None,
) -> Advice:
    """Recommend machines, counts and layouts for a training job.

    Parameters
    ----------
    model : str or path, optional
        Name in the zoo (``llama-2-7b``), a Hugging Face ``config.json`` or a size (``7B``); may be
        left out where one of `profiles` names it.
    tokens, epochs, steps, samples : number or str, optional
        How much to train; exactly one of them. Text may have a suffix: ``"10 B"``.
    dataset_samples : number or str, optional
        Samples in one epoch.
    sequence_length, resolution : int, optional
        Tokens of a sample, or the side of an image; the model's own by default.
    global_batch : int, optional
        Samples per optimizer step, over all accelerators.
    precision : str
        ``fp32``, ``tf32``, ``fp16``, ``bf16`` or ``fp8``.
    finetune : {"full", "lora", "qlora"}, optional
        Tune a trained model; None pre-trains.
    lora_rank : int
        Rank of the adapters.
    deadline_h, budget_usd : float, optional
        Limits on the hours [h] and the median bill [USD].
    chance : float
        How sure to be of the deadline.
    clouds, regions, gpus, markets : str or list of str
        Names as on the command line: ``"aws"``; ``"US"`` or ``"us-east-1"``; ``"Hopper"`` or
        ``"H100"``; ``"on-demand"``, ``"spot"``. By default the usual clouds, and no
        commitment but those on your list.
    residency : str or list of str
        Where the machines must stand: ``"EU"``, ``"EEA"``, or countries (``"DE"``, ``"Japan"``).
    confidential : bool
        Only machines whose accelerators a source says work in confidential machines.
    min_memory_gb : number, optional
        Memory of one accelerator, at least [GB].
    spot_ceiling_usd, max_usd_per_h : number, optional
        Spot price of one accelerator, and price of all machines, at most [USD/h].
    own : str or list of str
        Machines you own or hold, beside those of your list: ``"2 x 8 H100 at 0.9"``, the price in
        USD per accelerator-hour.
    max_carbon_kg : number, optional
        Emissions of the job, at most [kg CO2e], by your list ``carbon``.
    currency, budget : str and number, optional
        A budget in another currency, by your list ``rates``; instead of `budget_usd`.
    quotas : path or str, or list of them
        What your accounts may run: files, or texts, of what ``aws service-quotas
        list-service-quotas``, ``gcloud compute regions describe`` or ``az vm list-usage`` print,
        or rows of ``type,count``.
    max_machines, max_accelerators : int
        Largest cluster.
    memory_margin : float
        Share of the device memory to leave free.
    retry_allowance : float
        Extra hours for restarts, as a share.
    data_gb, data_at : number and str, optional
        Size of the data set [GB], stored while the job runs, and where it lies:
        ``"aws:us-east-1"``; by default where the machines are.
    transfer_usd_per_gb, storage_usd_per_gb_month : float, optional
        What moving and storing data costs you; list prices by default.
    current : str, optional
        What you run on today: ``"4 x p4d.24xlarge"``; picks then state the saving.
    profiles : list of path, bytes, open binary file, Trace or Profile
        Your own measured runs, which calibrate the predictions.
    explain : str or list of str
        Picks to explain, ``"cheapest"``: why they won and what would flip that, in ``choices``;
        their prediction opened, in ``explanations``.
    engine : Engine, optional
        Catalog and predictor; by default those of this process, opened once.

    Returns
    -------
    Advice
        ``picks`` by name, the front ``pareto``, ``to_frame()``, ``to_dict()``, ``to_json()``.

    Raises
    ------
    InvalidInputError
        If a name, number or file cannot be used.
    NoFeasiblePlanError
        If no plan meets the limits; the message says which to relax and by how much.
    """
    held = (own,) if isinstance(own, str) else tuple(own)
    catalog = load(own=held) if held else catalog_of(engine)
    if held and engine is not None:
        engine = replace(engine, catalog=catalog)
    job = job_of(
        model,
        {"tokens": tokens, "epochs": epochs, "steps": steps, "samples": samples},
        dataset_samples=dataset_samples,
        sizes={"sequence_length": sequence_length, "resolution": resolution},
        global_batch=global_batch,
        precision=precision,
        finetune=finetune,
        lora_rank=lora_rank,
    )
    limits, notes = constraints_named(
        catalog,
        clouds=names_of("clouds", clouds),
        regions=names_of("regions", regions),
        gpus=names_of("gpus", gpus),
        markets=names_of("markets", markets),
        residency=names_of("residency", residency),
        quotas=texts_of("quotas", quotas),
        confidential=bool(confidential),
        least_memory_gb=count_of("min_memory_gb", min_memory_gb),
        spot_usd_per_accelerator_h=count_of("spot_ceiling_usd", spot_ceiling_usd),
        most_usd_per_h=count_of("max_usd_per_h", max_usd_per_h),
        most_carbon_kg=count_of("max_carbon_kg", max_carbon_kg),
        most_machines=whole_of("max_machines", max_machines),
        deadline_h=count_of("deadline_h", deadline_h),
        budget_usd=budget_in_usd(
            count_of("budget", budget),
            count_of("budget_usd", budget_usd),
            currency_named(currency, catalog),
        ),
        chance=chance,
    )
    for note in notes:
        logger.warning("%s", note)
    options = SearchOptions(
        most_accelerators=whole_of("max_accelerators", max_accelerators) or 0,
        memory_margin=memory_margin,
        retry_share=retry_allowance,
        data=DataSet.stated(
            catalog,
            gb=count_of("data_gb", data_gb),
            at=data_at,
            transfer_usd_per_gb=transfer_usd_per_gb,
            storage_usd_per_gb_month=storage_usd_per_gb_month,
        ),
    )
    explained = picks_of(explain)
    question = ask(job, catalog, runs=profiles, machines=current)
    opened = engine_of(engine, catalog)
    advice = question.advice(
        opened, options=options, limits=limits, current=current, explain=explained
    )
    return Advice(**dict(advice))


def predict(
    model: str | Path = "",
    *,
    machines: str | None = None,
    gpu: str | None = None,
    accelerators: int | None = None,
    tokens: Amount | None = None,
    epochs: Amount | None = None,
    steps: Amount | None = None,
    samples: Amount | None = None,
    dataset_samples: Amount | None = None,
    sequence_length: Amount | None = None,
    resolution: Amount | None = None,
    global_batch: Amount | None = None,
    precision: Precision = "bf16",
    finetune: Finetune | None = None,
    lora_rank: int = DEFAULT_RANK,
    profiles: Iterable[OwnRun] = (),
    explain: bool = False,
    engine: Engine | None = None,
) -> Forecast:
    """Predict time and memory of a job on given hardware.

    Parameters
    ----------
    machines : str, optional
        Count and instance type: ``"8 x p5.48xlarge"``.
    gpu, accelerators : str and int, optional
        An accelerator and how many, instead of `machines`.
    explain : bool
        Open the prediction, in ``explanation``: factors, parts, the nearest measured runs.
    model, tokens, …, profiles, engine : optional
        As for `advise`.

    Returns
    -------
    Forecast
        Step time [s], hours [h] and accelerator-hours with 90 % intervals, memory [bytes],
        parts of the step, the layout; ``to_dict()``, ``to_json()``.

    Raises
    ------
    InvalidInputError
        If a name, number or file cannot be used.
    NoFeasiblePlanError
        If the job does not run on that hardware.
    PredictionError
        If the accelerator has no published peak.
    """
    hardware = Hardware(
        machines=machines, gpu=gpu, accelerators=whole_of("accelerators", accelerators)
    )
    catalog = catalog_of(engine)
    job = job_of(
        model,
        {"tokens": tokens, "epochs": epochs, "steps": steps, "samples": samples},
        dataset_samples=dataset_samples,
        sizes={"sequence_length": sequence_length, "resolution": resolution},
        global_batch=global_batch,
        precision=precision,
        finetune=finetune,
        lora_rank=lora_rank,
    )
    question = ask(job, catalog, runs=profiles, machines=machines)
    return question.forecast(engine_of(engine, catalog), hardware, explain=explain)


def read_trace(file: File, name: str = "") -> Trace:
    """Read a trace or log, an archive of them, or a folder of one job.

    Parameters
    ----------
    file : path, bytes or open binary file
        What to read. Its format is told by its content; nothing in it is run.
    name : str
        Its name for messages, where `file` has none.

    Raises
    ------
    TraceError
        If it cannot be read or is refused.
    """
    return read(file, name)


def diff(
    before: Source, after: Source, *, pick: str | None = None, engine: Engine | None = None
) -> PlanDifference:
    """Say what changed between two plans, and what each change did to the bill.

    Parameters
    ----------
    before, after : Proposal, Advice or path
        The plans; of advice, the cheapest or `pick`.
    engine : Engine, optional
        As for `advise`.

    Returns
    -------
    PlanDifference
        ``changes``, ``effects`` [USD] that sum to ``usd``, and ``notes``.

    Raises
    ------
    InvalidInputError
        If a file holds no plan, or limits that this version does not know.
    """
    first, second = proposal_in(before, pick), proposal_in(after, pick)
    return difference(first, second, engine_of(engine, catalog_of(engine)))
