"""Following the advised probes beats random ones, on models that no fit has seen."""

from __future__ import annotations

import pandas as pd
import pytest

from benchmarks.boards.context import Shipped
from benchmarks.boards.probed import FEWEST_TYPES, held_out_choices, probing

SOURCES = ("gavel", "profet", "zeus")


@pytest.fixture(scope="module")
def chosen() -> pd.DataFrame:
    """Choices of a type of accelerator for models held out, by two fits to the others."""
    return held_out_choices(Shipped(), sources=SOURCES, number=2, processes=1)


def test_the_advised_pair_leaves_less_regret_than_a_random_one(chosen: pd.DataFrame) -> None:
    assert chosen["model"].nunique() >= 10
    assert (chosen["types"] >= FEWEST_TYPES).all()
    of_models = chosen.groupby("model")[["now", "random_two", "advised_two"]].mean().mean()
    for mean in (chosen[["now", "random_two", "advised_two"]].mean(), of_models):
        assert mean["advised_two"] < 0.5 * mean["random_two"]
        assert mean["advised_two"] < 0.5 * mean["now"]


def test_two_runs_are_expected_to_say_more_than_one_and_do(chosen: pd.DataFrame) -> None:
    expected = chosen[["expected_now", "expected_one", "expected_two"]].mean()
    assert expected["expected_two"] < expected["expected_one"] < expected["expected_now"]
    assert chosen["advised_two"].mean() < chosen["advised_one"].mean()


def test_the_report_asks_for_less_regret_than_random(chosen: pd.DataFrame) -> None:
    rows = {row.name: row for row in probing(chosen)}
    advised = rows["probes.regret_advised_two.mean_of_choices"]
    assert advised.bar == f"< {rows['probes.regret_random_two.mean_of_choices'].value:.4g}"
    assert advised.holds
    assert rows["probes.n"].value == len(chosen)
