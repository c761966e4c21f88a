"""The card of a trace: where its time goes, and what a change of the job would save."""

from __future__ import annotations

from pathlib import Path

import pytest
from ui_apps import open_page, text_of

from advisor.advice import Engine
from advisor.testing.uploads import profiler_trace


@pytest.fixture(autouse=True)
def _own_store(engine: Engine, engine_data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert engine.runs
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(engine_data_dir))


def test_a_change_is_predicted_once_the_job_is_known() -> None:
    given = [("run.json", profiler_trace(), "application/octet-stream")]
    test = open_page("profiles")
    test = test.file_uploader[0].set_value(given).run()
    assert any(one.label == "Where the time goes" for one in test.expander)
    assert "Predicted in fp16" not in text_of(test)
    test.text_input(key="model_0").set_value("resnet-50")
    test.number_input(key="batch_0").set_value(32)
    assert "Predicted in fp16" in text_of(test.run())
