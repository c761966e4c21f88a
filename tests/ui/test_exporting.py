"""A plan handed on from its page: the report, the files of other tools, the whole as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from ui_apps import open_page, text_of

from advisor.advice import Engine
from advisor.ui.state import DEFAULT_JOB

GPU = "aws~p5.48xlarge~us-east-1~on_demand~8"
NO_GPU = "aws~trn1.32xlarge~us-east-1~on_demand~2"


@pytest.fixture(autouse=True)
def trained(engine: Engine, engine_data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(engine_data_dir))


def code_of(test: AppTest) -> str:
    """Return what is shown of the file; the link to the plan is a code block too."""
    return "\n".join(block.value for block in test.code if "plan=" not in block.value)


def test_the_file_for_the_chosen_tool_is_shown_with_its_use() -> None:
    test = open_page("advise", job=DEFAULT_JOB, plan=GPU)
    said = text_of(test).replace("\\", "")
    assert "sky launch plan-" in said
    assert "instance_type: p5.48xlarge" in code_of(test)
    test.selectbox(key="export_tool").set_value("slurm").run()
    assert "sbatch plan-" in text_of(test).replace("\\", "")
    assert "#SBATCH --nodes=8" in code_of(test)
    test.text_input(key="export_command").set_value("main.py --lr '1").run()
    assert "Close the quote" in text_of(test)
    assert code_of(test) == ""


def test_what_no_launcher_takes_says_why_and_shows_no_empty_file() -> None:
    test = open_page("advise", job=DEFAULT_JOB, plan=NO_GPU)
    said = text_of(test)
    assert "Trainium1 is no GPU" in said
    assert said.count("Trainium1 is no GPU") == 1  # the tools that share a reason share a line
    assert "Machines only" in code_of(test)  # Terraform makes them all the same
    choice = test.selectbox(key="export_tool")
    choice.set_value("skypilot").run()
    assert text_of(test).count("Trainium1 is no GPU") == 2
    assert code_of(test) == ""
    assert not [one for one in test.text_input if one.key == "export_command"]


def test_report_and_plan_are_offered_as_files() -> None:
    test = open_page("advise", job=DEFAULT_JOB, plan=GPU)
    labels = [button.label for button in test.get("download_button")]
    assert {"PDF", "HTML", "Plan, JSON"} <= set(labels)
