"""What every database behind the store must do with edits of runs; see `advisor.testing.store`."""

# ruff: noqa: D102 - the names of the tests are sentences
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from sqlalchemy import select

from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.store import AddResult
from advisor.store.schema import provenance
from advisor.testing.store_plans import WORKLOAD, measured, plan

if TYPE_CHECKING:
    from collections.abc import Hashable

    from advisor.domain import Profile
    from advisor.store import Store

OURS = measured()
HASH = OURS.content_hash
EDITS = {
    "corrected": lambda store: store.correct_profile(HASH, {"step_time_s": 3.0}),
    "an outlier": lambda store: store.mark_outlier(HASH),
    "deleted": lambda store: store.delete_profile(HASH),
}
IN_USE: Final = {"in use": lambda store: store.mark_outlier(HASH, outlier=False)}


def add(store: Store, origin: str, *runs: Profile) -> None:
    """Add runs as the user's own or as shipped ones."""
    if origin == "seed":
        store.replace_seed(runs, "tables")
    else:
        store.add(runs)


def everything(store: Store) -> list[dict[Hashable, Any]]:
    """Return all runs in every state."""
    return store.profiles(state=None).drop(columns="id").astype(str).to_dict("records")


class EditContract:
    """Conformance tests of corrections, outliers and deletions."""

    @pytest.mark.parametrize("origin", ["user", "seed"])
    @pytest.mark.parametrize("edit", EDITS)
    def test_undo_brings_back_everything(self, store: Store, origin: str, edit: str) -> None:
        add(store, origin, OURS, measured(step_time_s=5))
        before = (store.data_hash(), everything(store))
        EDITS[edit](store)
        assert store.data_hash() != before[0]
        store.undo()
        assert (store.data_hash(), everything(store)) == before

    @pytest.mark.parametrize("origin", ["user", "seed"])
    def test_a_correction_takes_the_place_of_the_run(self, store: Store, origin: str) -> None:
        add(store, origin, OURS)
        edit = store.correct_profile(HASH, {"step_time_s": 0.22, "global_batch": 64})
        (row,) = store.profiles().to_dict("records")
        assert (row["step_time_s"], row["global_batch"]) == (0.22, 64)
        assert (row["model"], row["source"], row["origin"]) == ("toy", "our cluster", "user")
        assert row["notes"] == "corrected by the user"
        assert row["content_hash"] == edit.other
        (old,) = store.profiles(state="superseded").to_dict("records")
        assert (old["content_hash"], old["step_time_s"]) == (HASH, 2.2)
        assert store.edits(HASH) == store.edits(edit.other) == [edit]

    def test_a_correction_of_a_correction_keeps_the_history(self, store: Store) -> None:
        store.add([OURS])
        first = store.correct_profile(HASH, {"step_time_s": 3.0})
        second = store.correct_profile(first.other, {"step_time_s": 4.0})
        assert store.profiles()["step_time_s"].tolist() == [4.0]
        assert sorted(store.profiles(state="superseded")["step_time_s"]) == [2.2, 3.0]
        assert store.edits(first.other) == [second, first]
        with pytest.raises(InvalidInputError, match=f"Undo edit {second.id} first"):
            store.undo(first.id)

    def test_a_correction_back_to_what_was(self, store: Store) -> None:
        store.add([OURS])
        first = store.correct_profile(HASH, {"step_time_s": 3.0})
        store.correct_profile(first.other, {"step_time_s": 2.2})
        assert store.profiles()["content_hash"].tolist() == [HASH]
        store.undo()
        assert store.profiles()["content_hash"].tolist() == [first.other]
        store.undo()
        assert store.profiles(state=None)["content_hash"].tolist() == [HASH]

    @pytest.mark.parametrize(
        ("changes", "says"),
        [
            ({"step_time_s": -1}, r"step_time_s: .*given: -1"),
            ({"model": ""}, "model"),
            ({"step_tim": 1}, "unknown field “step_tim”.*step_time_s"),
            ({"provenance": None}, "unknown field"),
            ({"step_time_s": 2.2}, "changes nothing"),
            ({}, "changes nothing"),
        ],
    )
    def test_a_correction_of_no_use_is_explained(
        self, store: Store, changes: dict[str, Any], says: str
    ) -> None:
        store.add([OURS])
        with pytest.raises(InvalidInputError, match=says):
            store.correct_profile(HASH, changes)
        assert store.profiles(state=None)["content_hash"].tolist() == [HASH]
        assert store.edits() == []

    @pytest.mark.parametrize("edit", EDITS)
    def test_what_is_left_out_is_neither_counted_nor_trained_on(
        self, store: Store, edit: str
    ) -> None:
        other = measured(model="other")
        store.add([other])
        alone = store.data_hash()
        store.add([OURS])
        EDITS[edit](store)
        assert store.count(model="toy", step_time_s=2.2) == 0
        assert HASH not in set(store.profiles()["content_hash"])
        assert store.count(state=None, content_hash=HASH) == 1
        if edit != "corrected":
            assert store.data_hash() == alone

    @pytest.mark.parametrize("edit", EDITS)
    def test_adding_again_brings_nothing_back_and_says_so(self, store: Store, edit: str) -> None:
        store.add([OURS])
        EDITS[edit](store)
        before = everything(store)
        result = store.add([OURS, measured(model="new"), OURS])
        names = {"corrected": "corrected", "an outlier": "outliers", "deleted": "deleted"}
        assert result == AddResult(**{"added": 1, "known": 2, names[edit]: 1})
        assert store.count(content_hash=HASH) == 0
        assert store.count(state=None) == len(before) + 1

    def test_what_a_user_left_out_stays_so_when_the_shipped_tables_change(
        self, store: Store
    ) -> None:
        second = measured(step_time_s=5)
        store.replace_seed([OURS, second], "a")
        store.delete_profile(HASH)
        store.mark_outlier(second.content_hash)
        store.replace_seed([], "b")
        store.replace_seed([OURS, second, measured(step_time_s=6)], "c")
        assert store.profiles()["step_time_s"].tolist() == [6]

    def test_an_outlier_can_be_taken_back_in_corrected_or_deleted(self, store: Store) -> None:
        store.add([OURS])
        before = store.data_hash()
        store.mark_outlier(HASH)
        assert store.profiles(state="outlier")["content_hash"].tolist() == [HASH]
        with pytest.raises(InvalidInputError, match="marked as an outlier before"):
            store.mark_outlier(HASH)
        store.mark_outlier(HASH, outlier=False)
        assert store.data_hash() == before
        with pytest.raises(InvalidInputError, match="in use before"):
            store.mark_outlier(HASH, outlier=False)
        store.mark_outlier(HASH)
        store.delete_profile(HASH)
        store.undo()
        assert store.count(state="outlier") == 1
        store.correct_profile(HASH, {"step_time_s": 3.0})
        assert store.profiles()["step_time_s"].tolist() == [3.0]

    @pytest.mark.parametrize("gone", ["corrected", "deleted"])
    @pytest.mark.parametrize("edit", EDITS)
    def test_what_is_gone_cannot_be_edited(self, store: Store, gone: str, edit: str) -> None:
        store.add([OURS])
        EDITS[gone](store)
        before = everything(store)
        with pytest.raises(InvalidInputError, match=rf"was {gone} before\. Undo that edit"):
            EDITS[edit](store)
        assert everything(store) == before
        assert len(store.edits()) == 1

    @pytest.mark.parametrize("edit", EDITS)
    def test_an_unknown_run_is_named(self, store: Store, edit: str) -> None:
        with pytest.raises(UnknownNameError, match=HASH[:12]):
            EDITS[edit](store)

    @pytest.mark.parametrize("origin", ["user", "seed"])
    def test_undo_keeps_a_corrected_run_that_came_by_itself_too(
        self, store: Store, origin: str
    ) -> None:
        store.add([OURS])
        store.correct_profile(HASH, {"step_time_s": 3.0})
        add(store, origin, measured(step_time_s=3.0))
        store.undo()
        assert sorted(store.profiles()["step_time_s"]) == [2.2, 3.0]

    def test_undo_leaves_no_source_that_no_run_has(self, store: Store) -> None:
        store.add([OURS])
        store.correct_profile(HASH, {"step_time_s": 3.0})
        store.undo()
        with store._reading() as connection:  # noqa: SLF001 - no method lists sources
            assert connection.scalars(select(provenance.c.notes)).all() == [""]

    @pytest.mark.parametrize("edits", [("an outlier", "in use"), ("corrected",)])
    def test_every_edit_of_a_shipped_run_can_be_undone_when_it_left_the_tables(
        self, store: Store, edits: tuple[str, ...]
    ) -> None:
        corrected = measured(step_time_s=3.0)
        source = OURS.provenance.model_copy(update={"notes": "corrected by the user"})
        store.replace_seed([OURS, corrected.model_copy(update={"provenance": source})], "a")
        for edit in edits:
            (EDITS | IN_USE)[edit](store)
        store.replace_seed([], "b")
        assert store.profiles()["step_time_s"].tolist() == [3.0 if "corrected" in edits else 2.2]
        for _ in edits:
            store.undo()
        with pytest.raises(InvalidInputError, match="nothing to undo"):
            store.undo()
        store.replace_seed([], "c")
        assert store.count(state=None) == 0

    def test_finished_runs_stay_with_what_each_was_given_whatever_is_undone(
        self, store: Store
    ) -> None:
        key = store.save_plan(plan(), WORKLOAD).id
        source = OURS.provenance.model_copy(update={"notes": "corrected by the user"})
        better = measured(step_time_s=3.0, provenance=source)
        store.finish_plan(key, profile=OURS)
        first = store.correct_profile(HASH, {"step_time_s": 3.0})
        store.finish_plan(key, profile=better)
        second = store.correct_profile(first.other, {"step_time_s": 4.0})
        assert [run.step_time_s for run in store.plan(key).finished] == [4.0, 4.0]
        assert {run.profile_hash for run in store.plans()[0].finished} == {second.other}
        store.undo()
        assert [run.step_time_s for run in store.plan(key).finished] == [3.0, 3.0]
        store.undo(first.id)
        assert [run.step_time_s for run in store.plan(key).finished] == [2.2, 3.0]

    def test_a_finished_run_follows_its_profile_there_and_back_again(self, store: Store) -> None:
        key = store.save_plan(plan(), WORKLOAD).id
        store.finish_plan(key, profile=OURS)
        first = store.correct_profile(HASH, {"step_time_s": 3.0})
        store.correct_profile(first.other, {"step_time_s": 2.2})
        assert store.plan(key).finished[0].profile_hash == HASH

    def test_a_finished_run_follows_the_correction_of_its_profile(self, store: Store) -> None:
        key = store.save_plan(plan(), WORKLOAD).id
        store.finish_plan(key, profile=OURS)
        store.correct_profile(HASH, {"step_time_s": 3.0})
        assert store.plan(key).finished[0].step_time_s == 3.0
        store.undo()
        assert store.plan(key).finished[0].step_time_s == 2.2
