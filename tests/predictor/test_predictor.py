"""The predictor and its cache: trained once per state of the data, whatever happens to a file."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import pytest
from run_examples import catalog, frame

from advisor.predictor import Predictor, predictor
from advisor.predictor.predictor import CACHES_KEPT, data_key
from advisor.predictor.training import training_table
from advisor.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from advisor.advice import Engine


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open() as opened:
        opened.add_frame(frame({}))
        yield opened


@pytest.fixture
def trainings(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys trained for; instead of training, the session's predictor is given out again."""
    keys: list[str] = []

    def train(_store: Any, _catalog: Any, key: str) -> Predictor:
        keys.append(key)
        return replace(engine.predictor, data_hash=key)

    monkeypatch.setattr(Predictor, "train", train)
    return keys


def caches(directory: Path) -> list[Path]:
    return sorted(directory.glob("predictor-*.joblib"))


def test_it_is_trained_once_and_then_read(store, trainings, tmp_path) -> None:
    first = Predictor.load(store, catalog(), tmp_path)
    second = Predictor.load(store, catalog(), tmp_path)
    assert len(trainings) == len(caches(tmp_path)) == 1
    assert second.data_hash == first.data_hash == data_key(store, catalog())
    assert [path.name for path in tmp_path.iterdir()] == [caches(tmp_path)[0].name]


def test_what_was_read_predicts_the_same_to_the_last_bit(
    engine, store, trainings, tmp_path
) -> None:
    Predictor.load(store, catalog(), tmp_path)
    read = Predictor.load(store, catalog(), tmp_path)
    profiles = frame({}, {"global_batch": 512.0}, {"accelerator": "K80", "precision": "fp32"})
    jobs = training_table(profiles, catalog()).jobs
    one, other = engine.predictor.model.predict(jobs), read.model.predict(jobs)
    assert one.step_s.tobytes() == other.step_s.tobytes()
    assert one.log_half_width.tobytes() == other.log_half_width.tobytes()


@pytest.mark.parametrize(
    "damage",
    [b"", b"not a pickle", b"\x80\x04\x95\xff\xff\xff\xff", None],
    ids=["empty", "text", "cut pickle", "half"],
)
def test_a_damaged_cache_is_trained_again(store, trainings, tmp_path, damage, caplog) -> None:
    Predictor.load(store, catalog(), tmp_path)
    (path,) = caches(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    with caplog.at_level(logging.WARNING):
        Predictor.load(store, catalog(), tmp_path)
    assert "damaged" in caplog.text
    assert len(trainings) == 2
    Predictor.load(store, catalog(), tmp_path)
    assert len(trainings) == 2


@pytest.mark.parametrize("content", ["something else", {"model": 1}])
def test_a_cache_of_something_else_is_trained_again(store, trainings, tmp_path, content) -> None:
    Predictor.load(store, catalog(), tmp_path)
    joblib.dump(content, caches(tmp_path)[0])
    Predictor.load(store, catalog(), tmp_path)
    assert len(trainings) == 2


def test_a_cache_of_other_data_is_trained_again(store, trainings, tmp_path) -> None:
    fitted = Predictor.load(store, catalog(), tmp_path)
    joblib.dump(replace(fitted, data_hash="of other data"), caches(tmp_path)[0])
    Predictor.load(store, catalog(), tmp_path)
    assert len(trainings) == 2


def test_a_directory_that_cannot_be_written_only_costs_time(store, trainings, tmp_path, caplog):
    missing = tmp_path / "not there"
    with caplog.at_level(logging.WARNING):
        Predictor.load(store, catalog(), missing)
        Predictor.load(store, catalog(), missing)
    assert "not cached" in caplog.text
    assert len(trainings) == 2


def test_a_full_disk_only_costs_time(store, trainings, tmp_path, caplog, monkeypatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(predictor.joblib, "dump", full)
    with caplog.at_level(logging.WARNING):
        Predictor.load(store, catalog(), tmp_path)
    assert "No space left" in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_new_runs_are_trained_with(store, trainings, tmp_path) -> None:
    Predictor.load(store, catalog(), tmp_path)
    store.add_frame(frame({"step_time_s": 11.0}))
    Predictor.load(store, catalog(), tmp_path)
    assert len(set(trainings)) == 2


def test_old_caches_are_removed(store, trainings, tmp_path) -> None:
    for step in range(CACHES_KEPT + 3):
        store.add_frame(frame({"step_time_s": 20.0 + step}))
        Predictor.load(store, catalog(), tmp_path)
    assert len(trainings) == CACHES_KEPT + 3
    assert len(caches(tmp_path)) == CACHES_KEPT
    Predictor.load(store, catalog(), tmp_path)
    assert len(trainings) == CACHES_KEPT + 3


def test_the_key_depends_on_the_facts_of_the_accelerators(store) -> None:
    before = data_key(store, catalog())
    facts = catalog().accelerators.copy()
    facts.loc["A100-80GB", "peak_bf16_flops"] *= 2
    tables = replace(catalog().tables, accelerators=facts)
    assert data_key(store, replace(catalog(), tables=tables)) != before
    assert data_key(store, catalog()) == before


def test_the_engine_says_what_it_was_trained_on(engine) -> None:
    assert len(engine.predictor.data_hash) == 64
    assert engine.predictor.training_s > 0
    assert np.isfinite(engine.predictor.model.conformal.pooled_half_width_)
