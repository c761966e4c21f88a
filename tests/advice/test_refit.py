"""Refits on own runs: taken where they predict no worse, judged on groups held out."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from advisor.advice import refit_worker
from advisor.advice.refit import refit
from advisor.advice.refit_guard import TOLERANCE, Score, fold_of
from advisor.advice.refits import MOST_VERDICTS, Refits, Verdict, read_refits, write_refits
from advisor.catalog import load
from advisor.core.errors import InvalidInputError, StoreError
from advisor.predictor import Predictor, held_out
from advisor.predictor.predictor import Basis, basis_of
from advisor.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from advisor.catalog import Catalog

PEAKS = {"A100-80GB": 312e12, "V100-16GB": 125e12, "H100-SXM-80GB": 990e12}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load()


@pytest.fixture(autouse=True)
def few_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_out, "FOLDS", 2)


def runs(*, factor: float = 1.0, scale: float = 1.0, counts: tuple[int, ...] = (8, 16)) -> Any:
    """Return runs of decoders whose steps follow from their FLOPs, by `factor` slower."""
    random = np.random.default_rng(0)
    rows = []
    for layers in (12, 16, 24, 32, 40):
        hidden = 128.0 * layers
        params = scale * 12 * layers * hidden**2
        for accelerator, peak in PEAKS.items():
            for count in counts:
                for batch in (128, 256, 512, 1024):
                    flops = 6 * params * batch * 2048
                    step = factor * flops / (0.4 * peak * count) * np.exp(random.normal(0, 0.15))
                    rows.append(
                        {
                            "model": f"decoder {layers} {scale}", "family": "language",
                            "params": params, "layers": layers, "hidden": hidden,
                            "sample_size": 2048.0, "framework": "PyTorch", "year": 2023.0,
                            "precision": "fp16", "accelerator": accelerator,
                            "accelerators": float(count), "nodes": max(count / 8, 1.0),
                            "global_batch": float(batch), "micro_batch": 4.0,
                            "step_time_s": step, "source": "bench",
                        }
                    )  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open() as opened:
        opened.add_frame(runs(), origin="seed")
        yield opened


def test_without_own_runs_there_is_nothing_to_learn(store, catalog, tmp_path) -> None:
    assert refit(store, catalog, tmp_path) is None
    assert read_refits(tmp_path) == Refits()


def test_own_runs_of_a_slower_kind_are_learnt_and_used(
    store, catalog, tmp_path, monkeypatch
) -> None:
    # So small a store scores by chance half a point better or worse.
    monkeypatch.setitem(TOLERANCE, "shipped", (0.1, 0.5))
    before = Predictor.load(store, catalog, tmp_path)
    own = runs(factor=1.3, scale=1.5, counts=(4,))
    store.add_frame(own[own["accelerator"] == "A100-80GB"])
    verdict = refit(store, catalog, tmp_path)
    assert verdict is not None
    assert verdict.taken, verdict.why
    assert verdict.new_runs == verdict.own_runs == 20
    assert {(score.held_out, score.whose) for score in verdict.scores} == {
        (held, whose) for held in ("configurations", "models") for whose in ("shipped", "own")
    }
    after = Predictor.load(store, catalog, tmp_path)
    assert after.basis == basis_of(store, catalog) != before.basis
    assert after.model.runs == before.model.runs + 20
    kept = read_refits(tmp_path)
    assert kept.verdicts[0].model_dump() == verdict.model_dump()
    assert kept.in_use == verdict.data_hash == after.data_hash
    assert refit(store, catalog, tmp_path) is None


def test_own_runs_that_spoil_what_was_known_are_not_taken(store, catalog, tmp_path) -> None:
    before = Predictor.load(store, catalog, tmp_path)
    random = np.random.default_rng(1)
    own = runs(counts=(8, 16))
    own["step_time_s"] *= np.exp(random.choice([-2.0, 2.0], len(own)))
    own["global_batch"] += 8  # jobs of their own, among those that were known
    store.add_frame(own)
    verdict = refit(store, catalog, tmp_path)
    assert verdict is not None
    assert not verdict.taken
    assert "shipped runs" in verdict.why
    assert Predictor.load(store, catalog, tmp_path).data_hash == before.data_hash
    assert read_refits(tmp_path).in_use == ""


def test_slips_of_units_and_unusable_runs_are_left_aside_and_named(
    store, catalog, tmp_path
) -> None:
    slip = runs(factor=100.0, scale=1.5, counts=(4,)).head(1)
    unknown = runs(scale=1.5, counts=(4,)).head(1).assign(accelerator="no such device")
    store.add_frame(pd.concat([slip, unknown]))
    verdict = refit(store, catalog, tmp_path)
    assert verdict is not None
    assert not verdict.taken
    assert verdict.why == "none of the new runs can be used"
    said = " ".join(f"{one.run}: {one.why}" for one in verdict.skipped)
    assert len(verdict.skipped) == 2
    assert "times off what is predicted" in said
    assert "no such device" in said


def test_a_refit_that_never_ends_is_not_begun_for_ever(store, catalog, tmp_path) -> None:
    store.add_frame(runs(scale=1.5, counts=(4,)).head(5))
    wanted = basis_of(store, catalog)
    begun = Refits()
    for _ in range(2):
        begun = begun.begin(wanted)
    write_refits(tmp_path, begun)
    verdict = refit(store, catalog, tmp_path, insist=False)
    assert verdict is not None
    assert not verdict.taken
    assert "never ended" in verdict.why


def test_a_full_disk_is_said(store, catalog, tmp_path, monkeypatch) -> None:
    Predictor.load(store, catalog, tmp_path)
    store.add_frame(runs(scale=1.5, counts=(4,)).head(5))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("advisor.advice.refit.write_refits", full)
    with pytest.raises(StoreError, match="cannot be kept"):
        refit(store, catalog, tmp_path)


def basis(*added: str, left_out: tuple[str, ...] = ()) -> Basis:
    return Basis("facts", frozenset(added), frozenset(left_out))


@pytest.mark.parametrize(
    ("wanted", "current", "due"),
    [
        (basis(), basis(), False),
        (basis("1"), None, False),
        (basis(*"1234"), basis(), False),
        (basis(*"12345"), basis(), True),
        (basis(*"12345"), basis("1"), False),
        (basis(), basis("1"), True),  # a run of the user's is gone
        (basis(left_out=("a",)), basis(), True),
    ],
)
def test_a_refit_is_due_after_enough_changes(wanted, current, due) -> None:
    assert refit_worker.is_due(wanted, current, Refits()) == due


def test_a_refit_that_was_judged_is_not_due_again_but_one_that_was_stopped_is() -> None:
    wanted = basis(*"12345")
    begun = Refits().begin(wanted)
    assert refit_worker.is_due(wanted, basis(), begun)
    verdict = Verdict(made_at=dt.datetime.now(dt.UTC), taken=False, why="it predicts worse")
    ended = begun.end(wanted, verdict)
    assert not refit_worker.is_due(wanted, basis(), ended)
    assert not refit_worker.is_due(basis(*"123456"), basis(), ended)
    assert refit_worker.is_due(basis(*"123456789", "10"), basis(), ended)


def test_a_refit_that_was_taken_and_is_lost_is_due_again() -> None:
    wanted = basis(*"12345")
    taken = Verdict(made_at=dt.datetime.now(dt.UTC), taken=True, why="no held-out error grew")
    ended = Refits().begin(wanted).end(wanted, taken)
    assert not refit_worker.is_due(wanted, wanted, ended)
    assert refit_worker.is_due(wanted, basis(), ended)


def test_only_one_refit_runs_at_a_time(tmp_path) -> None:
    assert not refit_worker.is_running(tmp_path)
    with refit_worker.alone(tmp_path):
        assert refit_worker.is_running(tmp_path)
        with pytest.raises(InvalidInputError, match="a refit is running"):
            refit_worker.alone(tmp_path).__enter__()
    assert not refit_worker.is_running(tmp_path)


def test_a_damaged_list_begins_anew_and_a_long_one_forgets(tmp_path, caplog) -> None:
    (tmp_path / "refits.json").write_text("{")
    assert read_refits(tmp_path) == Refits()
    assert "begins anew" in caplog.text
    kept, verdict = Refits(), Verdict(made_at=dt.datetime.now(dt.UTC), taken=False, why="worse")
    for _ in range(MOST_VERDICTS + 5):
        kept = kept.end(basis(), verdict)
    assert len(kept.verdicts) == MOST_VERDICTS


def test_a_score_may_grow_by_chance_only() -> None:
    score = Score(held_out="models", whose="shipped", runs=100, median_before=20.0,
                  median_after=20.4, mean_before=30.0, mean_after=30.0)  # fmt: skip
    assert score.holds
    assert not score.model_copy(update={"median_after": 20.6}).holds
    assert not score.model_copy(update={"mean_after": 31.0}).holds


def test_a_group_stays_in_its_fold_whatever_else_there_is() -> None:
    alone, among = fold_of(np.array(["b"])), fold_of(np.array(["a", "b", "c", "b"]))
    assert alone[0] == among[1] == among[3]


def test_a_predictor_knows_its_basis(store, catalog, tmp_path: Path) -> None:
    fitted = Predictor.load(store, catalog, tmp_path)
    assert fitted.basis == basis_of(store, catalog).shipped
    assert not replace(fitted, basis=None).keep(tmp_path)
