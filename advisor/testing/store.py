"""What every database behind the store must do.

A test module for a backend holds a subclass and a fixture ``store_url``, the address of a
database that is empty and the test's own::

    class TestSqlite(StoreContract):
        @pytest.fixture
        def store_url(self, tmp_path):
            return f"sqlite:///{tmp_path}/advisor.db"
"""

# ruff: noqa: D102 - the names of the tests are sentences
from __future__ import annotations

import datetime as dt
import math
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from advisor.core.errors import InvalidInputError, StoreError, UnknownNameError
from advisor.domain import Profile
from advisor.store import AddResult, SeedResult, Store
from advisor.testing.store_edits import EditContract
from advisor.testing.store_plans import PlanContract
from advisor.testing.store_processes import add_in_threads, in_processes, open_and_add
from advisor.testing.store_runs import SOURCE, full_run, run

if TYPE_CHECKING:
    from collections.abc import Iterator


class StoreContract(PlanContract, EditContract):
    """Conformance tests of a backend; see the module."""

    @pytest.fixture
    def store(self, store_url: str) -> Iterator[Store]:
        """Return an open, empty store."""
        with Store.open(store_url) as store:
            yield store

    def test_a_new_store_is_empty_and_its_table_has_all_columns(self, store: Store) -> None:
        frame = store.profiles()
        assert store.count() == len(frame) == 0
        assert set(Profile.model_fields) - {"provenance"} <= set(frame.columns)
        extra = {"source", "url", "licence", "content_hash", "id", "origin", "created_at"}
        assert extra <= set(frame.columns)

    def test_column_types_do_not_depend_on_the_content(self, store: Store) -> None:
        empty = store.profiles().dtypes
        store.add([run()])
        pd.testing.assert_series_equal(empty, store.profiles().dtypes)
        store.add([full_run()])
        pd.testing.assert_series_equal(empty, store.profiles().dtypes)

    def test_adding_twice_adds_once(self, store: Store) -> None:
        assert store.add([run(1), run(2), run(1)]) == AddResult(added=2, known=1)
        assert store.add(iter([run(2), run(3)])) == AddResult(added=1, known=1)
        assert store.add([]) == AddResult(added=0, known=0)
        assert store.count() == 3

    def test_every_field_comes_back_as_it_was(self, store: Store) -> None:
        given = full_run()
        store.add([given])
        (row,) = store.profiles().to_dict("records")
        for name, value in given:
            if name != "provenance":
                assert row[name] == value, name
        assert row["content_hash"] == given.content_hash
        assert (row["source"], row["url"], row["licence"]) == (
            SOURCE.source,
            SOURCE.url,
            SOURCE.licence,
        )
        assert row["collected"].date() == dt.date(2021, 4, 9)
        assert row["notes"] == "table 1, row 10"
        assert row["origin"] == "user"
        age_s = (pd.Timestamp.now(tz="UTC") - row["created_at"]).total_seconds()
        assert 0 <= age_s < 60

    def test_what_is_unknown_is_nan_or_empty(self, store: Store) -> None:
        store.add([run()])
        (row,) = store.profiles().to_dict("records")
        assert math.isnan(row["layers"])
        assert math.isnan(row["comm_share"])
        assert row["dataset"] == ""

    def test_what_the_store_returns_it_knows(self, store: Store) -> None:
        store.add([run(1), full_run()])
        assert store.add_frame(store.profiles()) == AddResult(added=0, known=2)

    def test_a_frame_and_its_profiles_are_the_same_runs(self, store: Store) -> None:
        store.add([run(i) for i in range(3)])
        frame = pd.DataFrame(
            {
                "model": ["net-0", "net-1", "net-2", "net-3"],
                "family": "cnn",
                "accelerator": "V100",
                "accelerators": 8,
                "layers": [None, None, float("nan"), 12],
                "step_time_s": [0.1, 1.1, 2.1, 3.1],
            }
        )
        assert store.add_frame(frame, SOURCE) == AddResult(added=1, known=3)

    def test_a_bad_frame_adds_nothing_and_is_explained(self, store: Store) -> None:
        good = {"model": "m", "family": "cnn", "accelerator": "T4", "source": "s"}
        frame = pd.DataFrame([good | {"accelerators": 1, "step_time_s": t} for t in (1.0, -2.0)])
        with pytest.raises(InvalidInputError, match=r"row 1, column step_time_s: .*-2\.0"):
            store.add_frame(frame)
        with pytest.raises(UnknownNameError, match="step_time_s"):
            store.add_frame(frame.rename(columns={"step_time_s": "step_time"}))
        with pytest.raises(InvalidInputError, match="row 0, column source"):
            store.add_frame(frame.drop(columns="source"))
        assert store.count() == 0

    def test_a_source_of_runs_that_fails_adds_nothing(self, store: Store) -> None:
        def runs() -> Iterator[Profile]:
            yield run(1)
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            store.add(runs())
        assert store.count() == 0

    def test_a_number_too_large_adds_nothing(self, store: Store) -> None:
        with pytest.raises(StoreError):
            store.add([run(1), run(2, layers=1, sample_size=10**30)])
        assert store.count() == 0

    def test_text_that_cannot_be_stored_adds_nothing(self, store: Store) -> None:
        source = SOURCE.model_copy(update={"notes": "a\0b"})
        for bad in (run(2, model="a\0b"), run(2, provenance=source)):
            with pytest.raises(InvalidInputError, match=r"measured run, (model|notes): "):
                store.add([run(1), bad])
        assert store.count() == 0

    def test_conditions(self, store: Store) -> None:
        store.add([run(i) for i in range(10)])
        store.add([run(20, accelerator="T4", model="it's; DROP TABLE profiles")])
        assert store.count(model="net-1") == 2
        assert store.profiles(model=["net-1", "net-2"], accelerator="V100").shape[0] == 4
        assert store.count(model=None, source="lab") == 11
        assert store.count(model=[]) == 0
        assert store.count(model="it's; DROP TABLE profiles") == 1
        assert store.count(content_hash=[run(3).content_hash]) == 1
        with pytest.raises(UnknownNameError, match="accelerator"):
            store.profiles(acelerator="V100")

    def test_the_data_hash_follows_the_content_only(self, store: Store) -> None:
        seen = [store.data_hash()]
        store.replace_seed([run(1), run(2)], "a")
        seen.append(store.data_hash())
        store.replace_seed([run(1)], "b")
        seen.append(store.data_hash())
        store.add([run(3)])
        seen.append(store.data_hash())
        store.add([run(3)])
        assert store.data_hash() == seen[-1]
        assert len(set(seen)) == len(seen)

    def test_order_of_adding_changes_neither_hash_nor_table(self, store: Store) -> None:
        store.replace_seed([run(1), run(2), run(3)], "a")
        first, frame = store.data_hash(), store.profiles()
        store.replace_seed([], "b")
        store.replace_seed([run(3), run(2), run(1)], "c")
        assert store.data_hash() == first
        changing = ["id", "created_at"]
        pd.testing.assert_frame_equal(
            store.profiles().drop(columns=changing), frame.drop(columns=changing)
        )

    def test_a_new_seed_replaces_the_old_and_spares_the_user(self, store: Store) -> None:
        assert store.seed_hash() == ""
        store.add([run(1)])
        assert store.replace_seed([run(1), run(2), run(3)], "a") == SeedResult(2, 0, 1)
        store.add([run(3)])
        assert store.replace_seed([run(4)], "b") == SeedResult(1, 1, 0)
        assert store.seed_hash() == "b"
        origins = store.profiles().set_index("step_time_s")["origin"].to_dict()
        assert origins == {1.1: "user", 3.1: "user", 4.1: "seed"}

    def test_snapshots(self, store: Store) -> None:
        content = b"price,instance\n" * 1000
        assert store.add_snapshot("abc", content, as_of=dt.date(2026, 1, 2), rows=1000)
        assert not store.add_snapshot("abc", b"other", as_of=dt.date(2026, 1, 3), rows=1)
        found = store.snapshot("abc")
        assert (found.content, found.as_of, found.rows) == (content, dt.date(2026, 1, 2), 1000)
        assert found.stored_at.tzinfo is not None
        with pytest.raises(StoreError, match="no catalog snapshot xyz"):
            store.snapshot("xyz")

    def test_what_was_added_is_there_after_reopening(self, store_url: str) -> None:
        with Store.open(store_url) as store:
            store.add([run(1)])
        with Store.open(store_url) as store:
            assert store.count() == 1

    def test_processes_that_open_a_new_store_at_once_all_succeed(self, store_url: str) -> None:
        in_processes(2, open_and_add, [store_url])
        with Store.open(store_url) as store:
            assert store.count() == 2

    def test_threads_and_processes_lose_and_duplicate_nothing(self, store_url: str) -> None:
        in_processes(2, add_in_threads, store_url)
        expected = {run(i).step_time_s for i in range(20)}
        expected |= {run(1000 * (1 + k) + i).step_time_s for k in range(16) for i in range(20)}
        with Store.open(store_url) as store:
            assert sorted(store.profiles()["step_time_s"]) == sorted(expected)
            names = {f"{k} {t} {s}" for k in range(2) for t in range(8) for s in range(0, 20, 5)}
            assert sorted(saved.name for saved in store.plans()) == sorted(names)
            assert {len(saved.finished) for saved in store.plans()} == {1}

    def test_only_one_of_many_who_undo_the_same_edit_does(self, store: Store) -> None:
        store.add([run(1)])
        edit = store.delete_profile(run(1).content_hash)

        def undo(_: int) -> int:
            try:
                return int(store.undo(edit.id).undone_at is not None)
            except InvalidInputError:
                return 0

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(undo, range(8))) == 1
        assert store.count() == 1
