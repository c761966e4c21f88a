"""One line of a sweep answered: the picks of its job in every scenario, as rows of a table."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from advisor.advice.advise import select
from advisor.advice.engine import Engine
from advisor.advice.exports import plan_row
from advisor.advice.given_values import count_of, names_of, whole_of
from advisor.advice.infeasible import no_plan
from advisor.advice.job import AMOUNTS, DEFAULT_RANK, Job
from advisor.advice.job_line import StatedJob, parse_job
from advisor.advice.limits import constraints_named
from advisor.advice.plans import make_plan
from advisor.core.errors import AdvisorError, InvalidInputError, NoFeasiblePlanError
from advisor.predictor.threads import one_thread
from advisor.search.constraints import DEFAULT_CHANCE, Constraints
from advisor.search.search import Evaluated, SearchOptions, evaluate

if TYPE_CHECKING:
    from advisor.advice.sweep.table import Fields, Task

DONE: Final = "done"
NO_PLAN: Final = "no plan"
BAD_INPUT: Final = "bad input"
FAILED: Final = "failed"
USUAL: Final = SearchOptions()

Row = dict[str, Any]


def stamp_of(engine: Engine) -> str:
    """Return what answers depend on beside their question."""
    return f"{engine.catalog.hash} {engine.predictor.data_hash} {engine.predictor.version}"


def work(task: Task, stamp: str) -> list[Row]:
    """Answer a task in a worker, which opens the catalog and the predictor once.

    Raises
    ------
    AdvisorError
        If they cannot be opened, or are not those of whom the answers are for.
    """
    engine = _engine()
    if stamp_of(engine) != stamp:
        raise InvalidInputError(
            "a worker has other prices, measured runs or another version.", where="--scheduler",
            todo="Install the same version there, with the same data directory, and start it anew.",
        )  # fmt: skip
    return answer(task, engine)


@cache
def _engine() -> Engine:
    return Engine.open()


def answer(task: Task, engine: Engine) -> list[Row]:
    """Return a row for every pick in every scenario; what has none is one row that says why."""
    tables: dict[SearchOptions, Evaluated] = {}
    rows: list[Row] = []
    for name, limits in task.scenarios:
        head = {"line": task.line, "job": task.name, "scenario": name}
        try:
            found = _picks({**task.fields, **limits}, engine, tables)
            rows += [head | {"status": DONE, "error": ""} | row for row in found]
        except AdvisorError as error:
            infeasible = isinstance(error, NoFeasiblePlanError)
            status = NO_PLAN if infeasible else BAD_INPUT
            rows.append(head | {"status": status, "error": str(error)})
    return rows


def failure(task: Task, why: str) -> list[Row]:
    """Return the rows of a task that never came back."""
    head = {"line": task.line, "job": task.name, "status": FAILED, "error": why}
    return [head | {"scenario": name} for name, _ in task.scenarios]


def _picks(fields: Fields, engine: Engine, tables: dict[SearchOptions, Evaluated]) -> list[Row]:
    stated = _stated(fields)
    options = _options(fields)
    limits = _limits(fields, engine, stated)
    table = tables.get(options)
    if table is None:
        with one_thread():  # workers share the machine
            table = evaluate(stated.job.workload(), engine.catalog, engine.predictor, options)
        tables[options] = table
    result = select(table, limits)
    if not result.picks:
        raise no_plan(table, limits, result.removed)
    names: dict[int, list[str]] = {}
    for name, row in result.picks.items():
        names.setdefault(row, []).append(name)
    return [plan_row(make_plan(table, row, engine, limits.deadline_h), " ".join(picks))
            for row, picks in names.items()]  # fmt: skip


def _stated(fields: Fields) -> StatedJob:
    if "_extra" in fields:
        raise InvalidInputError(
            "the line has more cells than the header.", where="columns",
            todo="Put text with commas in quotes.",
        )  # fmt: skip
    columns = [name for name in ("model", *AMOUNTS) if name in fields]
    if "job" in fields:
        if columns:
            raise InvalidInputError(f"“job” says it all, beside {columns[0]}.", where="job")
        return parse_job(fields["job"])
    units = [name for name in AMOUNTS if name in fields]
    if "model" not in fields or len(units) != 1:
        raise InvalidInputError(
            "a job needs a model and one amount of training.", where="model",
            todo=f"Fill “job”, or “model” and one of {', '.join(AMOUNTS)}.",
        )  # fmt: skip
    return StatedJob(
        Job(
            model=fields["model"],
            amount=count_of(units[0], fields[units[0]]),
            unit=units[0],
            dataset_samples=count_of("dataset_samples", fields.get("dataset_samples")),
            sample_size=whole_of("sample_size", fields.get("sample_size")),
            global_batch=whole_of("global_batch", fields.get("global_batch")),
            precision=fields.get("precision", "bf16"),
            tuning=fields.get("finetune", "pretrain"),
            lora_rank=whole_of("lora_rank", fields.get("lora_rank")) or DEFAULT_RANK,
        )
    )


def _limits(fields: Fields, engine: Engine, stated: StatedJob) -> Constraints:
    limits, _ = constraints_named(
        engine.catalog,
        clouds=names_of("clouds", fields.get("clouds")),
        regions=names_of("regions", fields.get("regions")),
        gpus=names_of("gpus", fields.get("gpus")),
        markets=names_of("markets", fields.get("markets")),
        residency=names_of("residency", fields.get("residency")),
        most_machines=whole_of("max_machines", fields.get("max_machines")),
        deadline_h=count_of("deadline_h", fields.get("deadline_h")) or stated.deadline_h,
        budget_usd=count_of("budget_usd", fields.get("budget_usd")) or stated.budget_usd,
        chance=count_of("chance", fields.get("chance")) or DEFAULT_CHANCE,
    )
    return limits


def _options(fields: Fields) -> SearchOptions:
    most = whole_of("max_accelerators", fields.get("max_accelerators"))
    margin = count_of("memory_margin", fields.get("memory_margin"))
    retries = count_of("retry_allowance", fields.get("retry_allowance"))
    return SearchOptions(
        most_accelerators=USUAL.most_accelerators if most is None else most,
        memory_margin=USUAL.memory_margin if margin is None else margin,
        retry_share=USUAL.retry_share if retries is None else retries,
    )
