"""The command for machines that differ, with physics for a predictor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from command_line import run_fixture  # noqa: F401 - a fixture

from advisor.advice import Engine
from advisor.cli import mixed
from advisor.domain.mixed import MixedAdvice
from advisor.predictor.baseline import step_columns
from advisor.predictor.costs import START
from advisor.predictor.model import Prediction

if TYPE_CHECKING:
    from collections.abc import Callable

    from command_line import Ran

    from advisor.catalog import Catalog
    from advisor.predictor.jobs import Jobs

JOB = ("--model", "llama-2-7b", "--tokens", "1e8", "--seq-len", "512", "--global-batch", "64")


class Physics:
    """A predictor without a correction."""

    def predict(self, jobs: Jobs) -> Prediction:
        ones = np.ones(len(jobs))
        return Prediction(
            parts=step_columns(jobs, START), correction=ones, log_sigma=0.2 * ones,
            log_half_width=0.3 * ones, difficulty=ones.astype(int), distance=ones,
        )  # fmt: skip


@pytest.fixture(autouse=True)
def untrained(monkeypatch: pytest.MonkeyPatch) -> None:
    class Opened:
        @staticmethod
        def open(catalog: Catalog) -> Engine:
            return Engine(catalog=catalog, predictor=Physics(), runs=0)

    monkeypatch.setattr(mixed, "Engine", Opened)


def test_it_says_which_mix_to_use_and_what_each_kind_is_worth(run: Callable[..., Ran]) -> None:
    ran = run("mixed", *JOB, "--inventory", "8 x A100-80GB, 2 x V100-32GB")
    assert ran.code == 0
    assert ran.out.startswith("Best: 8 × A100-80GB")
    assert "worth it; with it" in ran.out.replace("\n", " ")
    assert "Assumed: " in ran.out


def test_json_is_the_whole_answer(run: Callable[..., Ran]) -> None:
    ran = run("mixed", *JOB, "--inventory", "8 x A100-80GB, 2 x V100-32GB", "--json")
    assert MixedAdvice.make(**ran.json).best.step_time_s.unit == "s"


def test_unknown_kinds_are_bad_input_and_named(run: Callable[..., Ran]) -> None:
    ran = run("mixed", *JOB, "--inventory", "2 x L4, Z9000")
    assert ran.code == 2
    assert "Z9000" in ran.err


def test_what_fits_nowhere_has_its_own_exit_code(run: Callable[..., Ran]) -> None:
    assert run("mixed", *JOB, "--inventory", "T4, P40").code == 3
