"""The page with Streamlit's own test driver."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from advisor.advice import Engine
from advisor.ui.state import DEFAULT_JOB

LLAMA = (
    '{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "vocab_size": 32000, '
    '"num_attention_heads": 32, "intermediate_size": 11008} · 1 B tokens'
)
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def app(
    engine: Engine, engine_data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., AppTest]:
    """Open the app on the session's data directory, with values in the address."""
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(engine_data_dir))

    def open_app(**address: str) -> AppTest:
        test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=90)
        for name, value in address.items():
            test.query_params[name] = value
        return test.run()

    return open_app


def text_of(test: AppTest) -> str:
    assert not test.exception
    return "\n".join(element.value for element in test.markdown)


def test_sample_job_gives_four_picks(app: Callable[..., AppTest]) -> None:
    test = app(job=DEFAULT_JOB, deadline="72")
    said = text_of(test)
    for title in ("Cheapest", "Fastest", "Best value", "Safest"):
        assert title in said
    assert len([m for m in test.metric if m.label.startswith("Cost")]) == 4


def test_a_shorter_deadline_changes_the_metrics(app: Callable[..., AppTest]) -> None:
    test = app(job=DEFAULT_JOB, deadline="72")
    before = [metric.value for metric in test.metric]
    test.number_input(key="deadline").set_value(6.0).run()
    assert [metric.value for metric in test.metric] != before


def test_a_deadline_in_the_line_counts_and_moves_to_its_field(app: Callable[..., AppTest]) -> None:
    test = app(job=f"{DEFAULT_JOB} · finish within 24 h")
    assert any("Within 24" in bar.text for bar in test.get("progress"))
    test.text_input(key="job").set_value(f"{DEFAULT_JOB} · finish within 12 h").run()
    assert test.number_input(key="deadline").value == 12.0


def test_an_unknown_model_offers_the_nearest(app: Callable[..., AppTest]) -> None:
    said = text_of(app(job="lama-2-7 · 10 B tokens"))
    assert "unknown model" in said
    assert "llama\\-2\\-7b" in said or "llama-2-7b" in said


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("llama-2-7b · -5 tokens", "tokens"),
        ("llama-2-7b · 10 B tokens · batch nought", "not a number"),
        ("llama-2-7b · 10 B tokens · fast please", "fast please"),
        ("llama-2-7b", "amount of training"),
        ('{"model_type": "llama"}', "is missing"),
        ("1e30B · 1 B tokens", "unknown model"),
        ("0B · 1 B tokens", "parameters is needed, not 0B"),
        ("7B · 1e30 tokens", "up to 1e+17 is needed"),
        ("7B · nan tokens", "“nan” is not a number"),
        ("7B · 1 B tokens · batch 0", "a whole number from 1"),
        ("7B · 1 B tokens · batch 1e30", "a whole number from 1"),
        ("7B · 1 B tokens · sequence 1e30", "sequence length"),
        ("7B · 1 B tokens · finish within 0 h", "not a positive number"),
        ("7B · 1 B tokens · budget $0", "not a positive number"),
        ("7B · 1 B tokens · on Foo 9000", "is not understood"),
        ("../../etc/passwd · 1 B tokens", "no file is read here"),
        (LLAMA.replace("4096", "1e30"), "“hidden_size” must be a whole number"),
        (LLAMA.replace("4096", "NaN"), "“hidden_size” must be a whole number"),
        (LLAMA.replace("4096", "0"), "“hidden_size” must be a whole number"),
    ],
)
def test_what_is_not_understood_is_said(
    app: Callable[..., AppTest], line: str, expected: str
) -> None:
    said = text_of(app(job=line)).replace("\\", "")
    assert expected in said
    assert "Cheapest" not in said  # never a number


def test_an_empty_job_asks_what_to_train(app: Callable[..., AppTest]) -> None:
    test = app(deadline="72")
    assert "What do you want to train?" in text_of(test)
    sample = next(b for b in test.button if b.label.startswith("ResNet-50"))
    sample.click().run()
    assert "Cheapest" in text_of(test)


def test_an_impossible_deadline_says_how_far_to_relax(app: Callable[..., AppTest]) -> None:
    test = app(job=DEFAULT_JOB, deadline="0.1")
    said = text_of(test)
    assert "No plan meets all constraints" in said
    assert "**deadline" in said
    next(b for b in test.button if b.label == "Use this").click().run()
    assert "Cheapest" in text_of(test)


def test_todays_machines_are_the_first_card_and_the_saving_is_stated(
    app: Callable[..., AppTest],
) -> None:
    said = text_of(app(job=DEFAULT_JOB, deadline="72", today="4 x p4d.24xlarge"))
    assert "Today" in said
    assert "than today" in said


def test_machines_that_do_not_exist_are_named(app: Callable[..., AppTest]) -> None:
    said = text_of(app(job=DEFAULT_JOB, deadline="72", today="4 x p4d.24xlarg")).replace("\\", "")
    assert "unknown instance type" in said
    assert "Cheapest" in said


@pytest.mark.parametrize(
    "address",
    [
        {"deadline": "soon"}, {"deadline": "-1"}, {"deadline": "nan"}, {"chance": "400"},
        {"markets": "bazaar"}, {"machines": "1e9"}, {"families": "Abacus"}, {"budget": "inf"},
        {"retries": "1e6"}, {"plan": "no~such~plan~at~all"}, {"plan": "<script>alert(1)</script>"},
    ],
    ids=str,
)  # fmt: skip
def test_an_address_can_hold_anything(app: Callable[..., AppTest], address: dict[str, str]) -> None:
    said = text_of(app(job=DEFAULT_JOB, **address))
    assert "Cheapest" in said or "This plan is not among" in said


def test_a_plan_in_the_address_opens_its_detail(app: Callable[..., AppTest]) -> None:
    test = app(job=DEFAULT_JOB, deadline="72", plan="aws~p5.48xlarge~us-east-1~on_demand~8")
    said = text_of(test)
    for heading in ("One step", "Memory per device", "Bill", "When it finishes", "Prices used"):
        assert heading in said
    assert [metric.label for metric in test.metric][:2] == ["Cost", "Time"]


def test_names_from_the_user_are_escaped(app: Callable[..., AppTest]) -> None:
    said = text_of(app(job="<b>**x**</b>[y](http://z) · 10 B tokens"))
    assert "<b>" not in said.replace("\\<", "")
    assert "[y](http" not in said


def test_a_damaged_store_is_said_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "advisor.db"
    database.write_bytes(b"not a database at all" * 100)
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    st.cache_resource.clear()
    test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    test.query_params["job"] = DEFAULT_JOB
    said = text_of(test.run())
    st.cache_resource.clear()
    assert "advisor.db" in said.replace("\\", "")
    assert database.read_bytes() == b"not a database at all" * 100
