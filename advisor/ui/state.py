"""What the pages share: the engine, evaluated jobs, and the job in the address."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

import streamlit as st

from advisor import catalog as catalogs
from advisor import zoo
from advisor.advice import Engine
from advisor.advice.job import Job
from advisor.advice.job_line import StatedJob, parse_job
from advisor.advice.limits import USUAL_CLOUDS
from advisor.advice.nearest import Measured
from advisor.advice.refits import read_refits
from advisor.core.errors import AdvisorError
from advisor.core.paths import data_dir
from advisor.domain.hardware import COMMITTED, OWN_CLOUD, Market
from advisor.search.constraints import DEFAULT_CHANCE, NO_COMMITMENT, Constraints
from advisor.search.search import Evaluated, SearchOptions, evaluate
from advisor.ui.more_limits import MoreLimits
from advisor.ui.theme import CLOUD_TITLES, FAMILIES, FAMILY_TITLES, MARKET_TITLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from advisor.domain import Profile

SAMPLES: Final = {
    "Llama-2-7B, 10 B tokens": "Llama-2-7B · 10 B tokens · sequence 4,096 · batch 1,024",
    "ResNet-50, ImageNet, 90 epochs": "ResNet-50 · 90 epochs · resolution 224 · batch 256",
    "BERT-large, 1 M steps": "BERT-large · 1,000,000 steps · sequence 512 · batch 256",
    "Llama-3-70B LoRA, 1 B tokens": "Llama-3-70B · lora · 1 B tokens · sequence 4,096 · batch 64",
    "Stable Diffusion XL, 20,000 steps": "SDXL · full fine-tune · 20,000 steps · batch 256",
}
DEFAULT_JOB: Final = next(iter(SAMPLES.values()))
DEFAULT_DEADLINE_H: Final = 72.0
DEFAULT_MACHINES: Final = 16
MOST_RETRIES: Final = 100
OTHER_CLOUDS: Final = "other"
DEFAULT_CLOUDS: Final = (*USUAL_CLOUDS, OWN_CLOUD)
AREAS: Final = ("US", "Europe", "Asia", "Other")
MARKETS: Final = tuple(m for m in get_args(Market) if m not in COMMITTED)
DEFAULT_MARKETS: Final = tuple(m for m in MARKETS if m in NO_COMMITMENT)
# What the address calls a choice: its title, as the widgets that it is bound to write and read it.
CHOICE_TITLES: Final[dict[str, dict[str, str]]] = {
    "markets": MARKET_TITLES,
    "clouds": CLOUD_TITLES | {OTHER_CLOUDS: "Others"},
    "families": FAMILY_TITLES,
}


def asset(name: str) -> str:
    """Return the path of an image; local files keep the browser off other hosts."""
    return str(Path(__file__).parent / "assets" / name)


def engine() -> Engine:
    """Return the engine, opened once per server and again when prices or the predictor change."""
    return _engine(_stamp())


def _stamp() -> tuple[str, str]:
    """Return what answers depend on beside their question: own prices, and the refit in use.

    A refit of the same runs that is made again, as its file was lost, is another one.
    """
    taken = read_refits(data_dir()).taken
    return catalogs.stamp(), "" if taken is None else f"{taken.data_hash} {taken.made_at}"


@st.cache_resource(max_entries=2, show_spinner="Loading prices and measured runs …")
def _engine(stamp: tuple[str, str]) -> Engine:  # noqa: ARG001 - a part of the cache's key
    return Engine.open()


def clouds_of(loaded: Engine) -> list[str]:
    """Return the clouds of the catalog."""
    return [str(cloud) for cloud in loaded.catalog.offers["cloud"].cat.categories]


def cloud_choices() -> tuple[str, ...]:
    """Return the clouds that can be chosen; own machines only where there are some."""
    try:
        own = OWN_CLOUD in catalogs.load().offers["cloud"].cat.categories
    except AdvisorError:  # the page says so where it opens the engine
        own = False
    return (*(DEFAULT_CLOUDS if own else USUAL_CLOUDS), OTHER_CLOUDS)


def measured() -> Measured:
    """Return the runs the predictor learnt from, read once per predictor."""
    return _measured(_stamp())


@st.cache_resource(max_entries=1, show_spinner="Reading measured runs …")
def _measured(stamp: tuple[str, str]) -> Measured:  # noqa: ARG001 - a part of the cache's key
    return Measured.load(engine())


def calibrated(job: Job, runs: Sequence[Profile] = ()) -> Engine:
    """Return the engine whose predictions the user's runs calibrate; without runs as it is."""
    return _calibrated(job, _stamp(), _hashes(runs), runs) if runs else engine()


def evaluated(job: Job, options: SearchOptions, runs: Sequence[Profile] = ()) -> Evaluated:
    """Return the evaluated table of a job; constraints only filter it."""
    return _evaluated(job, options, _stamp(), _hashes(runs), runs)


def _hashes(runs: Sequence[Profile]) -> tuple[str, ...]:
    return tuple(run.content_hash for run in runs)


@st.cache_resource(max_entries=16, show_spinner="Calibrating by your runs …")
def _calibrated(
    job: Job,
    stamp: tuple[str, str],  # noqa: ARG001 - as in `_engine`
    hashes: tuple[str, ...],  # noqa: ARG001 - the runs in the key of the cache
    _runs: Sequence[Profile],
) -> Engine:
    return engine().calibrated(_runs, job.workload())


@st.cache_resource(max_entries=16, show_spinner="Searching machines, counts and layouts …")
def _evaluated(
    job: Job,
    options: SearchOptions,
    stamp: tuple[str, str],  # noqa: ARG001 - as in `_engine`
    hashes: tuple[str, ...],  # noqa: ARG001 - the runs in the key of the cache
    _runs: Sequence[Profile],
) -> Evaluated:
    loaded = calibrated(job, _runs)
    return evaluate(job.workload(), loaded.catalog, loaded.predictor, options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Everything in the address: the same inputs give the same advice."""

    job: str = ""
    deadline_h: float | None = None
    budget_usd: float | None = None
    chance: float = DEFAULT_CHANCE
    markets: tuple[str, ...] = DEFAULT_MARKETS
    clouds: tuple[str, ...] = DEFAULT_CLOUDS
    areas: tuple[str, ...] = AREAS
    families: tuple[str, ...] = tuple(FAMILIES)
    machines: int | None = DEFAULT_MACHINES
    retries: int = 0
    today: str = ""
    runs: tuple[str, ...] = ()
    more: MoreLimits = field(default_factory=MoreLimits)

    @property
    def parsed(self) -> Job:
        """The job of the line.

        Raises
        ------
        InvalidInputError
            If a part of the line is not understood.
        """
        return self._stated.job

    @property
    def _stated(self) -> StatedJob:
        stated = parse_job(self.job)
        zoo.resolve(stated.job.model, files=False)  # an address must not open files of the server
        return stated

    @property
    def options(self) -> SearchOptions:
        """What the search depends on.

        Raises
        ------
        InvalidInputError
            If the place of the data set is unknown.
        """
        return SearchOptions(retry_share=self.retries / 100, **self.more.options())

    def limits(self, known_clouds: Sequence[str]) -> Constraints:
        """Return the constraints; a choice of everything, or of nothing, is no constraint.

        A deadline or budget in the job's line counts where its own field is empty.
        """
        stated = self._stated
        return Constraints(
            deadline_h=self.deadline_h or stated.deadline_h,
            budget_usd=self.budget_usd or stated.budget_usd,
            chance=self.chance,
            markets=_markets(self.markets),
            clouds=_clouds(self.clouds, known_clouds),
            areas=_chosen(self.areas, AREAS),
            families=_chosen(self.families, tuple(FAMILIES)),
            most_machines=self.machines,
            **self.more.constraints(),
        )


def _chosen(chosen: Sequence[str], known: Sequence[str]) -> frozenset[str] | None:
    return None if not chosen or set(chosen) == set(known) else frozenset(chosen)


def _markets(chosen: Sequence[str]) -> frozenset[Market] | None:
    """Return the markets with what is committed already, which is never a matter of choice."""
    named = _chosen(chosen, MARKETS)
    return None if named is None else frozenset(
        market for market in get_args(Market) if market in named or market in COMMITTED
    )  # fmt: skip


def _clouds(chosen: Sequence[str], known: Sequence[str]) -> frozenset[str] | None:
    named = set(chosen) & set(known)
    if OTHER_CLOUDS in chosen:
        named |= {cloud for cloud in known if cloud not in DEFAULT_CLOUDS}
    return None if not chosen or named == set(known) else frozenset(named)


def inputs_of(values: Mapping[str, object]) -> Inputs:
    """Read the inputs of widgets or of an address; what cannot be used keeps its default.

    Widgets limit their values in the browser only, and an address can hold anything.
    """
    defaults = Inputs()
    return Inputs(
        job=str(values.get("job") or defaults.job),
        deadline_h=_positive(values, "deadline"),
        budget_usd=_positive(values, "budget"),
        chance=min(max((_positive(values, "chance") or 100 * defaults.chance) / 100, 0.5), 0.99),
        markets=_many(values, "markets", defaults.markets, MARKETS),
        clouds=_many(values, "clouds", defaults.clouds, (*DEFAULT_CLOUDS, OTHER_CLOUDS)),
        areas=_many(values, "areas", defaults.areas, AREAS),
        families=_many(values, "families", defaults.families, tuple(FAMILIES)),
        machines=int(_positive(values, "machines") or defaults.machines or 0) or None,
        retries=int(min(_positive(values, "retries") or 0, MOST_RETRIES)),
        today=str(values.get("today") or ""),
        runs=_run_keys(values.get("runs")),
        more=MoreLimits.of(values),
    )


def session_values() -> dict[str, object]:
    """Return the values of the page's widgets.

    Where there are no own machines nobody can choose them: the usual clouds are the default.
    """
    values = {str(name): st.session_state[name] for name in st.session_state}
    if values.get("clouds") == list(USUAL_CLOUDS) and OWN_CLOUD not in cloud_choices():
        values["clouds"] = list(DEFAULT_CLOUDS)
    return values


def address_values() -> dict[str, object]:
    """Return the values of the page's address; choices of several as lists."""
    params = st.query_params
    many = ("markets", "clouds", "areas", "families", "compare", "runs", "residency")
    return {name: params.get_all(name) if name in many else params[name] for name in params}


def _many(
    values: Mapping[str, object], name: str, fallback: tuple[str, ...], known: Sequence[str]
) -> tuple[str, ...]:
    given = values.get(name)
    names = {title: choice for choice, title in CHOICE_TITLES.get(name, {}).items()}
    chosen = [names.get(str(one), str(one)) for one in given] if isinstance(given, list) else []
    return tuple(value for value in chosen if value in known) or fallback


def _run_keys(given: object) -> tuple[str, ...]:
    keys = given if isinstance(given, list) else ()
    return tuple(dict.fromkeys(str(key) for key in keys))


def _positive(values: Mapping[str, object], name: str) -> float | None:
    try:
        value = float(str(values[name]))
    except (KeyError, ValueError):
        return None
    return value if math.isfinite(value) and value > 0 else None
