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
from advisor.predictor.predictor import CACHES_KEPT, Basis, basis_of
from advisor.predictor.training import training_table
from advisor.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from advisor.advice import Engine


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open() as opened:
        opened.add_frame(frame({}), origin="seed")
        yield opened


@pytest.fixture
def trainings(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys trained for; instead of training, the session's predictor is given out again."""
    keys: list[str] = []

    def train(_store: Any, _catalog: Any, basis: Basis) -> Predictor:
        keys.append(basis.key)
        return of_basis(engine, basis)

    monkeypatch.setattr(Predictor, "train", train)
    return keys


def of_basis(engine: Engine, basis: Basis) -> Predictor:
    return replace(engine.predictor, data_hash=basis.key, basis=basis)


def add_own(store: Store, step_s: float) -> str:
    """Add a run of the user's, and return its content hash."""
    before = store.own_changes().added
    store.add_frame(frame({"step_time_s": step_s}))
    (key,) = store.own_changes().added - before
    return key


def caches(directory: Path) -> list[Path]:
    return sorted(directory.glob("predictor-*.joblib"))


def test_it_is_trained_once_and_then_read(store, trainings, tmp_path) -> None:
    first = Predictor.load(store, catalog(), tmp_path)
    second = Predictor.load(store, catalog(), tmp_path)
    assert len(trainings) == len(caches(tmp_path)) == 1
    assert second.data_hash == first.data_hash == basis_of(store, catalog()).key
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
    joblib.dump(replace(fitted, basis=Basis("of other data")), caches(tmp_path)[0])
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


def test_shipped_runs_of_a_new_version_are_trained_with(store, trainings, tmp_path) -> None:
    Predictor.load(store, catalog(), tmp_path)
    store.add_frame(frame({"step_time_s": 11.0}), origin="seed")
    Predictor.load(store, catalog(), tmp_path)
    assert len(set(trainings)) == 2


def test_own_runs_wait_for_a_refit(store, trainings, tmp_path) -> None:
    add_own(store, 11.0)
    first = Predictor.load(store, catalog(), tmp_path)
    add_own(store, 12.0)
    second = Predictor.load(store, catalog(), tmp_path)
    assert first.basis == second.basis == basis_of(store, catalog()).shipped
    assert len(trainings) == 1


def test_the_refit_that_knows_most_is_taken_but_none_that_knows_a_run_left_out_since(
    engine, store, trainings, tmp_path
) -> None:
    shipped = Predictor.load(store, catalog(), tmp_path).basis
    keys = [add_own(store, 11.0 + number) for number in range(3)]
    for known in (keys[:2], keys[:1]):
        assert of_basis(engine, replace(shipped, added=frozenset(known))).keep(tmp_path)
    assert Predictor.load(store, catalog(), tmp_path).basis.added == set(keys[:2])
    store.mark_outlier(keys[1])
    assert Predictor.load(store, catalog(), tmp_path).basis.added == {keys[0]}
    store.delete_profile(keys[0])
    assert Predictor.load(store, catalog(), tmp_path).basis == shipped
    assert len(trainings) == 1


def test_a_basis_holds_shipped_and_own_runs_but_not_those_left_out(store) -> None:
    key = add_own(store, 11.0)
    wanted = basis_of(store, catalog())
    assert sorted(wanted.runs(store)["step_time_s"]) == [10.0, 11.0]
    assert wanted.shipped.runs(store)["step_time_s"].tolist() == [10.0]
    shipped_run = store.profiles(origin="seed")["content_hash"].iloc[0]
    store.mark_outlier(shipped_run)
    left = basis_of(store, catalog())
    assert left == replace(wanted, left_out=frozenset({shipped_run}))
    assert left.runs(store)["content_hash"].tolist() == [key]
    assert wanted.shipped.runs(store)["step_time_s"].tolist() == [10.0]
    assert wanted.within(left)
    assert not left.within(wanted)


def test_old_caches_are_removed_but_for_the_one_without_own_runs(
    engine, store, trainings, tmp_path
) -> None:
    shipped = Predictor.load(store, catalog(), tmp_path).basis
    for step in range(CACHES_KEPT + 3):
        add_own(store, 20.0 + step)
        of_basis(engine, basis_of(store, catalog())).keep(tmp_path)
    assert len(caches(tmp_path)) == CACHES_KEPT + 1
    for key in store.own_changes().added:
        store.delete_profile(key)
    assert Predictor.load(store, catalog(), tmp_path).basis == shipped
    assert len(trainings) == 1


def test_the_key_depends_on_the_facts_of_the_accelerators(store) -> None:
    before = basis_of(store, catalog()).key
    facts = catalog().accelerators.copy()
    facts.loc["A100-80GB", "peak_bf16_flops"] *= 2
    tables = replace(catalog().tables, accelerators=facts)
    assert basis_of(store, replace(catalog(), tables=tables)).key != before
    assert basis_of(store, catalog()).key == before


def test_the_engine_says_what_it_was_trained_on(engine) -> None:
    assert len(engine.predictor.data_hash) == 64
    assert engine.predictor.training_s > 0
    assert np.isfinite(engine.predictor.model.conformal.pooled_half_width_)
