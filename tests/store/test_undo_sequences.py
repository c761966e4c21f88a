"""Whatever is edited in whatever order: every edit can be undone, and a backup holds it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from advisor.core.errors import InvalidInputError
from advisor.store import Store
from advisor.testing.store_plans import WORKLOAD, measured, plan

OURS = measured()
SOURCE = OURS.provenance.model_copy(update={"notes": "corrected by the user"})
BETTER = measured(step_time_s=3.0, provenance=SOURCE)  # what a correction of ours makes
# Few, so that edits meet.
ACTIONS: dict[str, Callable[[Store, str], object]] = {
    "add": lambda store, _: store.add([OURS]),
    "add the corrected one": lambda store, _: store.add([BETTER]),
    "correct": lambda store, _: store.correct_profile(OURS.content_hash, {"step_time_s": 3.0}),
    "correct back": lambda store, _: store.correct_profile(
        BETTER.content_hash, {"step_time_s": 2.2}
    ),
    "leave out": lambda store, _: store.mark_outlier(OURS.content_hash),
    "take in": lambda store, _: store.mark_outlier(OURS.content_hash, outlier=False),
    "delete": lambda store, _: store.delete_profile(OURS.content_hash),
    "finish": lambda store, plan_id: store.finish_plan(
        plan_id, profile=OURS, note=OURS.content_hash
    ),
    "finish with the corrected one": lambda store, plan_id: store.finish_plan(
        plan_id, profile=BETTER, note=BETTER.content_hash
    ),
    "new tables": lambda store, _: store.replace_seed([OURS], "with"),
    "no tables": lambda store, _: store.replace_seed([], "without"),
    "undo": lambda store, _: store.undo(),
}


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with its tables: making them takes longer than all the rest."""
    path = tmp_path_factory.mktemp("empty") / "a.db"
    Store.open(f"sqlite:///{path}").close()
    return path


@contextmanager
def copies_of(empty: Path) -> Iterator[Path]:
    """Two empty stores in a folder of their own."""
    with tempfile.TemporaryDirectory() as name:
        for copy in ("a.db", "b.db"):
            shutil.copy(empty, Path(name) / copy)
        yield Path(name)


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(list(ACTIONS)), min_size=2, max_size=12))
@example(["leave out", "take in", "no tables"])
@example(["finish", "correct", "add the corrected one"])
@example(["correct", "finish with the corrected one", "correct back", "no tables"])
def test_all_edits_can_be_undone_and_finished_runs_go_back_to_what_they_were_given(
    empty_store: Path, actions: list[str]
) -> None:
    with (
        copies_of(empty_store) as folder,
        Store.open(f"sqlite:///{folder}/a.db") as store,
        Store.open(f"sqlite:///{folder}/b.db") as other,
    ):
        plan_id = store.save_plan(plan(), WORKLOAD).id
        store.replace_seed([OURS], "first")
        for action in actions:
            with suppress(InvalidInputError):  # what the store refuses is left out
                ACTIONS[action](store, plan_id)
        store.backup(folder / "a.backup")
        other.restore(folder / "a.backup")
        assert other.plans() == store.plans()
        for edit in [edit for edit in store.edits() if edit.undone_at is None]:
            assert store.undo().id == edit.id
        with pytest.raises(InvalidInputError, match="nothing to undo"):
            store.undo()
        measured_s = {run.content_hash: run.step_time_s for run in (OURS, BETTER)}
        assert store.finished_runs(plan_id) == []
        for run in store.finished_runs(plan_id, deleted=True):
            assert run.profile_hash == run.note
            assert run.step_time_s == measured_s[run.note]
        store.backup(folder / "a.backup")
        other.restore(folder / "a.backup", replace=True)
        assert other.data_hash() == store.data_hash()
