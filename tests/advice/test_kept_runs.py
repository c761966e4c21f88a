"""Own runs are found by the keys that an address names them by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from advisor.advice.kept_runs import (
    KEY_LETTERS,
    MOST_KEYS,
    KeptRuns,
    kept_runs,
    key_of,
    keys_to_offer,
)
from advisor.domain import Profile, Provenance
from advisor.store import Store


def run(model: str = "ResNet-50", step_time_s: float = 0.126) -> Profile:
    return Profile(
        model=model, family="cnn", accelerator="V100-32GB", accelerators=1, global_batch=32,
        step_time_s=step_time_s, provenance=Provenance(source="own trace"),
    )  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path}/runs.db") as opened:
        yield opened


def test_runs_are_found_in_the_order_of_their_keys(store: Store) -> None:
    runs = [run(step_time_s=0.1 * n) for n in (1, 2, 3)]
    store.add(runs)
    wanted = [runs[2], runs[0]]
    found = kept_runs(store, [key_of(one) for one in wanted])
    assert found == KeptRuns(tuple(wanted))


def test_a_key_given_twice_or_in_full_names_the_run_once(store: Store) -> None:
    store.add([run()])
    keys = [key_of(run()), key_of(run()), run().content_hash]
    assert kept_runs(store, keys).profiles == (run(),)


def test_shipped_runs_are_not_the_users(store: Store) -> None:
    store.add([run()], origin="seed")
    ((key, why),) = kept_runs(store, [key_of(run())]).unknown
    assert key == key_of(run())
    assert "not among your runs" in why


@pytest.mark.parametrize("key", ["", "abc", "%", "x" * 12, "<script>", "0" * 65, "0" * 12])
def test_a_key_of_no_run_is_told(store: Store, key: str) -> None:
    store.add([run()])
    found = kept_runs(store, [key])
    assert not found.profiles
    assert found.unknown == ((key, "is not among your runs"),)


def test_why_a_run_is_out_of_use_is_told(store: Store) -> None:
    deleted, outlier, wrong = run(), run(step_time_s=0.2), run(step_time_s=0.3)
    store.add([deleted, outlier, wrong])
    store.delete_profile(deleted.content_hash)
    store.mark_outlier(outlier.content_hash)
    store.correct_profile(wrong.content_hash, {"step_time_s": 0.4})
    found = kept_runs(store, [key_of(one) for one in (deleted, outlier, wrong)])
    whys = [why for _, why in found.unknown]
    for word, why in zip(("deleted", "outlier", "corrected"), whys, strict=True):
        assert word in why


def test_an_address_of_very_many_runs_uses_the_first_and_says_so(store: Store) -> None:
    runs = [run(step_time_s=0.001 * n) for n in range(1, MOST_KEYS + 4)]
    store.add(runs)
    found = kept_runs(store, [key_of(one) for one in runs])
    assert found.profiles == tuple(runs[:MOST_KEYS])
    assert found.unknown[0][0] == "3 more"


def test_runs_of_the_same_model_are_offered_first_under_any_spelling(store: Store) -> None:
    assert keys_to_offer(store, "resnet50") == []
    store.add([run(), run("VGG-16", 0.3)])
    store.add([run("VGG-16", 0.4)])
    keys = keys_to_offer(store, "resnet50")
    assert keys[0] == key_of(run())
    assert len(keys) == 3
    assert all(len(key) == KEY_LETTERS for key in keys)


def test_a_run_that_is_deleted_between_two_reads_is_said_to_be_gone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    stays, goes = run(step_time_s=0.1), run(step_time_s=0.2)
    store.add([stays, goes])
    read = store.profiles

    def and_then_deleted(**wanted: Any) -> pd.DataFrame:
        found = read(**wanted)
        monkeypatch.undo()
        store.delete_profile(goes.content_hash)
        return found

    monkeypatch.setattr(store, "profiles", and_then_deleted)
    found = kept_runs(store, [key_of(goes), key_of(stays)])
    assert found.profiles == (stays,)
    assert found.unknown == ((key_of(goes), "was changed a moment ago"),)
