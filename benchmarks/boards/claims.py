"""Whole published efforts: accelerator-hours of the finished job from its description alone."""

from __future__ import annotations

import functools
import re
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.core.errors import AdvisorError
from advisor.core.units import HOUR_S
from advisor.predictor import Predictor
from advisor.predictor.effort import whole_effort_factor, whole_effort_spread
from advisor.predictor.model import StepTimeModel
from advisor.predictor.runs import FAMILY_CODES
from benchmarks.boards.claim_jobs import is_language, job_of, read_claims, scored
from benchmarks.boards.claim_others import Claims, learned
from benchmarks.boards.claim_steps import steady_state
from benchmarks.boards.registry import BOARDS, ROWS_BOARDS
from benchmarks.boards.scoring import HeldOut, Scored, score
from benchmarks.report import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.catalog import Catalog
    from advisor.predictor.jobs import Jobs
    from advisor.predictor.training import TrainingTable
    from benchmarks.boards.claim_jobs import ClaimJob
    from benchmarks.boards.context import Context

BARS: Final = {
    "claims": {"median_ape": 25.0},
    "claims_language": {"median_ape": 16.0, "p90_ape": 50.0},
}
TITLES: Final = {
    "claims": "Whole published efforts, all kinds",
    "claims_language": "Whole pre-training efforts of language models",
}
# A run of the store is the one that a claim speaks of: shape, devices and accelerator agree, and
# so does the time per sample.
SAME_PARAMS: Final = 0.05
SAME_TIME: Final = 0.15
COVERAGE: Final = (0.85, 0.95)
RULE_UTILISATION: Final = 0.4


@dataclass(frozen=True, slots=True)
class Predicted:
    """Claims that could be predicted.

    ``rows`` are positions in the claims; ``language`` marks pre-training; ``origin`` holds
    organisation and family of the network, what makes claims alike; ``refused`` says of the
    others why not, by position.
    """

    rows: np.ndarray
    hours: np.ndarray
    sigma: np.ndarray
    origin: np.ndarray
    language: np.ndarray
    rule_h: np.ndarray
    refused: dict[int, str]

    def compared(self, claims: pd.DataFrame) -> Claims:
        """Return the predictions beside what was stated."""
        stated = claims["gpu_hours"].to_numpy(float)[self.rows]
        return Claims(
            hours=self.hours,
            sigma=self.sigma,
            origin=self.origin,
            language=self.language,
            log_error=np.log(stated / self.hours),
        )


@BOARDS.register("claims")
def claims_board(context: Context) -> Iterator[Scored]:
    """All kinds of efforts."""
    own = _own_claims(context)
    yield from _board(context, own, ("claims",), _own_predictor(context))


@BOARDS.register("claims_language")
def claims_language_board(context: Context) -> Iterator[Scored]:
    """Pre-training of language models."""
    claims = _own_claims(context)
    asked = claims[is_language(claims)]
    yield from _board(context, asked, ("claims_language",), _own_predictor(context))


@ROWS_BOARDS.register("claims")
def claims_rows(context: Context, rows: pd.DataFrame) -> Iterator[Scored]:
    """Efforts of the user's file."""
    claims = read_claims(rows)
    names = ("claims", "claims_language") if is_language(claims).any() else ("claims",)
    asked = claims[scored(claims)]
    both = pd.concat([asked, _own_claims(context)])
    yield from _board(context, asked, names, predictor_without(both, context))


@functools.lru_cache(maxsize=1)
def _own_predictor(context: Context) -> Predictor:
    """Return the predictor of both boards, which is trained once."""
    return predictor_without(_own_claims(context), context)


def _own_claims(context: Context) -> pd.DataFrame:
    claims = read_claims(pd.read_csv(context.reference / "data" / "boards" / "claims.csv"))
    return claims[scored(claims)]


def _board(
    context: Context, asked: pd.DataFrame, names: tuple[str, ...], predictor: Predictor
) -> Iterator[Scored]:
    """Predict claims; what other organisations' claims show moves and widens them."""
    asked, known = asked.reset_index(drop=True), _own_claims(context).reset_index(drop=True)
    ours = predict(asked, predictor, context.catalog)
    others = predict(known, predictor, context.catalog)
    hours, sigma = from_others(ours, others.compared(known))
    ours = replace(ours, hours=hours, sigma=sigma)
    for place, why in ours.refused.items():
        claim_id, title = asked.loc[place, ["claim_id", "job_name"]]
        print(f"refused: {claim_id} {title}: {why}", file=sys.stderr)
    for name in names:
        yield _scored(name, asked, ours)


def _scored(name: str, claims: pd.DataFrame, found: Predicted) -> Scored:
    language = is_language(claims).to_numpy() | (name == "claims")
    part, refused = language[found.rows], language[list(found.refused)].sum()
    stated = claims["gpu_hours"].to_numpy(float)[found.rows]
    ruled = part & np.isfinite(found.rule_h)
    peers = score(f"peer.rule_of_thumb.{name}", HeldOut(stated[ruled], found.rule_h[ruled]))
    held = HeldOut(stated[part], found.hours[part], found.sigma[part], COVERAGE)
    return Scored(
        name=name,
        title=TITLES[name],
        held_out="every effort: the predictor has seen none",
        runs_of="published efforts",
        held=held if part.any() else None,
        bars=BARS[name],
        beside=[
            Row(f"{name}.n_refused", float(refused), "rows"),
            *(peers if ruled.any() else []),
        ],
    )


def predictor_without(claims: pd.DataFrame, context: Context) -> Predictor:
    """Return the predictor trained on the shipped runs but those that a claim speaks of."""
    table = context.shipped
    known = np.zeros(len(table.jobs), dtype=bool)
    for _, row in claims.iterrows():
        try:
            known |= same_run(row, job_of(row, context.catalog), table)
        except AdvisorError:  # a row that is not understood names no run
            continue
    kept = table.take(~known)
    model = StepTimeModel.fit(kept.jobs, kept.step_s, kept.config, kept.source)
    return Predictor(model=model, data_hash="", version="", training_s=0.0)


def same_run(row: pd.Series, job: ClaimJob, table: TrainingTable) -> np.ndarray:
    """Return which runs of a training table are those of a claim.

    Without the number of devices a claim names no run: its speed at another scale is not its own.
    """
    jobs: Jobs = table.jobs
    model, device = job.workload.model, job.accelerator
    if job.accelerators is None:
        return np.zeros(len(jobs), dtype=bool)
    alike = np.abs(np.log(jobs.params / model.params)) < SAME_PARAMS
    alike &= jobs.family_code == FAMILY_CODES[model.family]
    alike &= np.abs(np.log(jobs.memory_bytes / device.memory_bytes)) < SAME_PARAMS
    alike &= np.abs(np.log(jobs.memory_bytes_per_s / device.memory_bytes_per_s)) < SAME_PARAMS
    alike &= jobs.devices == job.accelerators
    seconds = row["gpu_hours"] * HOUR_S / job.workload.tokens
    per_token = table.step_s * jobs.devices / (jobs.global_batch * jobs.tokens_per_sample)
    return np.asarray(alike & (np.abs(np.log(per_token / seconds)) < SAME_TIME))


def predict(claims: pd.DataFrame, predictor: Predictor, catalog: Catalog) -> Predicted:
    """Return the predicted hours of claims, and why some have none."""
    found: list[tuple[int, float, float, str, str, float]] = []
    refused: dict[int, str] = {}
    for place, (_, row) in enumerate(claims.iterrows()):
        try:
            job = job_of(row, catalog)
            steady = steady_state(job, predictor, catalog)
        except AdvisorError as error:
            refused[place] = str(error)
            continue
        family = family_of(job.workload.model.name)
        hours, sigma = steady.accelerator_hours, steady.log_sigma
        if job.whole:
            factor = float(whole_effort_factor(hours, without=family))
            spread = whole_effort_spread(without=family)
            hours, sigma = hours * factor, float(np.hypot(sigma, spread * (factor > 1)))
        found.append((place, hours, sigma, organisation_of(row["source"]), family,
                      rule_of_thumb_h(row, job)))  # fmt: skip
    columns = list(zip(*found, strict=True)) or [()] * 6
    return Predicted(
        rows=np.array(columns[0], dtype=int),
        hours=np.array(columns[1], dtype=float),
        sigma=np.array(columns[2], dtype=float),
        language=is_language(claims).to_numpy()[np.array(columns[0], dtype=int)],
        origin=np.array([columns[3], columns[4]], dtype=str).T.reshape(-1, 2),
        rule_h=np.array(columns[5], dtype=float),
        refused=refused,
    )


def from_others(asked: Predicted, known: Claims) -> tuple[np.ndarray, np.ndarray]:
    """Return hours and spread of predictions after what claims of others show."""
    learnt = [
        learned(hours, sigma, origin, known, language=bool(language))
        for hours, sigma, origin, language in zip(
            asked.hours.tolist(), asked.sigma.tolist(), asked.origin, asked.language, strict=True
        )
    ]
    by, sigma = np.array(learnt).reshape(-1, 2).T
    return asked.hours * np.exp(by), sigma


def organisation_of(source: str) -> str:
    """Return who published a claim.

    >>> organisation_of("github:karpathy/llm.c@f1e2ace65149:scripts/run_gpt2_124M.sh")
    'karpathy'
    """
    found = re.search(r"github:([^/]+)/", source)
    return found[1].lower() if found else source


def family_of(model: str) -> str:
    """Return the family of a network's name: its first word.

    >>> family_of("llama-3.2-1b"), family_of("bloom-176b")
    ('llama', 'bloom')
    """
    return re.split(r"[-\s\d]", model, maxsplit=1)[0]


def rule_of_thumb_h(row: pd.Series, job: ClaimJob) -> float:
    """Return 6·N·D at 40 % of the half-precision peak [accelerator-hours]; NaN without tokens."""
    billions = row["active_params_b"] if row["active_params_b"] > 0 else row["params_b"]
    peaks = job.accelerator.peak_flops
    peak = peaks.get("bf16") or peaks.get("fp16") or float("nan")
    flops = 6 * billions * 1e9 * row["tokens_b"] * 1e9
    return float(flops / (RULE_UTILISATION * peak * HOUR_S))
