"""What to measure next on Advise: made only when it is opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from ui_apps import open_page, text_of

from advisor.advice import Engine
from advisor.advice.advise import select
from advisor.advice.probes import what_to_measure
from advisor.search.search import evaluate
from advisor.ui import probing
from advisor.ui.state import DEFAULT_JOB, Inputs


@pytest.fixture(autouse=True)
def _own_store(engine_copy: Path) -> None:
    """Answer with the engine of the tests."""


def test_probes_are_behind_an_expander(monkeypatch: pytest.MonkeyPatch) -> None:
    def unasked(*_: object) -> None:
        raise AssertionError("made although nobody asked")

    monkeypatch.setattr(probing, "what_to_measure", unasked)
    test = open_page("advise", job=DEFAULT_JOB)
    assert "Cheapest" in text_of(test)
    assert "What to measure next" in [one.label for one in test.expander]


def test_the_table_has_choosing_now_and_every_probe(engine: Engine) -> None:
    inputs = Inputs(job=DEFAULT_JOB)
    table = evaluate(inputs.parsed.workload(), engine.catalog, engine.predictor, inputs.options)
    limits = inputs.limits(("aws", "gcp", "azure"))
    found = what_to_measure(table, select(table, limits).rows, limits, engine)
    shown = probing.probes_table(found)
    assert len(shown) == 1 + len(found.probes)
    assert shown["Measure"].iloc[0] == "Choose now"
    assert " and " in shown["Measure"].iloc[1]
    assert found.best is not None
    assert (" " in shown) == any(not probe.pays for probe in found.probes)
