"""Whatever a user gives for a model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.zoo import get, resolve

BERT = {
    "model_type": "bert",
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "vocab_size": 30522,
}


def test_a_name_a_size_and_pasted_json() -> None:
    assert resolve(" Llama-2-7B ") is get("llama-2-7b")
    assert resolve("7B").params == pytest.approx(7e9, rel=0.01)
    assert resolve(json.dumps(BERT, indent=2)).params == get("bert-base").params


def test_a_file_and_its_directory(tmp_path: Path) -> None:
    directory = tmp_path / "My-BERT"
    directory.mkdir()
    file = directory / "config.json"
    file.write_text(json.dumps(BERT), encoding="utf-8")
    for path in (file, directory):
        found = resolve(str(path))
        assert found.params == get("bert-base").params
        assert found.title == "My-BERT"


def test_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bert.json").write_text(json.dumps(BERT), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert resolve("bert.json").params == get("bert-base").params


def test_a_name_counts_more_than_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gpt2").write_text(json.dumps(BERT), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert resolve("gpt2") is get("gpt-2-small")


@pytest.mark.parametrize(
    "path", ["/no/such/config.json", "./nothing", "~/nothing", "~no-such-user/x", "config.json"]
)
def test_a_missing_file_is_said(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInputError, match="there is no file"):
        resolve(path)


def test_a_directory_without_configuration_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="there is no file"):
        resolve(str(tmp_path))


def test_a_large_or_binary_file_is_refused(tmp_path: Path) -> None:
    weights = tmp_path / "model.json"
    weights.write_bytes(b" " * 1_000_001)
    with pytest.raises(InvalidInputError, match="larger than"):
        resolve(str(weights))
    weights.write_bytes(b"\x80\x81\xff")
    with pytest.raises(InvalidInputError, match="cannot be read as text"):
        resolve(str(weights))


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="llama-2-7b"):
        resolve("llama-2-7c")


@pytest.mark.parametrize("nothing", ["", "  ", None, 7])
def test_nothing_is_an_error(nothing: object) -> None:
    with pytest.raises(InvalidInputError, match="a model is needed"):
        resolve(nothing)  # type: ignore[arg-type]


@given(text=st.text(max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_text_gives_an_architecture_or_a_clear_error(text: str) -> None:
    try:
        architecture = resolve(text)
    except InvalidInputError as error:
        todo = error.todo
    else:
        todo = architecture.name
    assert todo or text.strip()


def test_the_zoo_imports_nothing_heavy() -> None:
    heavy = "{'numpy', 'pandas', 'torch', 'streamlit', 'sqlalchemy', 'sklearn', 'requests'}"
    code = f"import sys, advisor.zoo; print(*sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == []
