"""What every database behind the store must do with saved plans; see `advisor.testing.store`."""

# ruff: noqa: D102 - the names of the tests are sentences
from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest

from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.domain import (
    Bill,
    Cluster,
    Estimate,
    Layout,
    MemoryUse,
    Model,
    NodeGroup,
    Offer,
    Plan,
    Profile,
    Provenance,
    StepParts,
    Workload,
)

if TYPE_CHECKING:
    from advisor.store import Store

WORKLOAD = Workload(
    model=Model(
        name="toy", family="language", params=1e9, active_params=1e9, layers=4, hidden=64, heads=4,
        kv_heads=2, vocab=1000, tokens_per_sample=128, forward_flops_per_sample=2e12,
        activation_elements_per_sample=1e6, boundary_elements_per_sample=1e4,
    ),
    samples=1000, global_batch=64, precision="bf16", trainable_params=1e9,
)  # fmt: skip
INPUTS = {"job": "toy · 1,000 samples", "clouds": ["aws", "gcp"], "plan": "aws~p4d~us~spot~2"}


def plan(machines: int = 2) -> Plan:
    """Return a plan; another number of machines is another plan."""
    group = NodeGroup(
        cloud="aws", instance_type="p4d.24xlarge", region="us-east-1", count=machines,
        accelerator="A100-40GB", accelerators_per_node=8,
    )  # fmt: skip
    return Plan(
        cluster=Cluster(groups=(group,)),
        layout=Layout(data_parallel=8 * machines, micro_batch=2, accumulation=4),
        offer=Offer(
            cloud="aws", instance_type="p4d.24xlarge", region="us-east-1", market="spot",
            usd_per_h=9.83, source="price list", as_of=dt.date(2026, 7, 20), flags=("stale",),
        ),
        step_time_s=Estimate(value=2, low=1.5, high=2.5, unit="s", basis="interpolated"),
        hours=Estimate(value=10, low=8, high=13, unit="h", basis="interpolated"),
        cost_usd=Estimate(value=112.75, low=90, high=140, unit="USD", basis="interpolated"),
        steps=16,
        parts=StepParts(
            compute_s=1.25, exposed_communication_s=0.5, bubble_s=0, overhead_s=0.25, correction=1
        ),
        memory=MemoryUse(
            parameters_bytes=2e9, gradients_bytes=2e9, optimizer_bytes=12e9, activations_bytes=3e9,
            workspace_bytes=1e9, capacity_bytes=40e9, out_of_memory_probability=0.01,
        ),
        bill=Bill(machines_usd=100, startup_usd=2.5, retries_usd=10, storage_usd=0.25),
        mfu=0.4, deadline_probability=0.9,
        catalog_hash="catalog", data_hash="data", advisor_version="0.1.0",
    )  # fmt: skip


def measured(**fields: Any) -> Profile:
    """Return what a run of `plan` measured."""
    given: dict[str, Any] = {
        "model": "toy", "family": "language", "accelerator": "A100-40GB", "accelerators": 16,
        "step_time_s": 2.2, "provenance": Provenance(source="our cluster"),
    }  # fmt: skip
    return Profile(**given | fields)


class PlanContract:
    """Conformance tests of saved plans."""

    def test_a_saved_plan_comes_back_with_all_it_needs_to_be_reopened(self, store: Store) -> None:
        given = plan()
        saved = store.save_plan(
            given, WORKLOAD, name=" Toy,\n first try ", job="toy · 1,000 samples", inputs=INPUTS
        )
        (found,) = store.plans()
        assert found == saved == store.plan(saved.id)
        assert (found.plan, found.workload, found.inputs) == (given, WORKLOAD, INPUTS)
        assert (found.name, found.job) == ("Toy, first try", "toy · 1,000 samples")
        assert (found.usd_per_h, found.price_source) == (9.83, "price list")
        assert found.price_as_of == dt.date(2026, 7, 20)
        assert (found.hours, found.cost_usd) == (given.hours, given.cost_usd)
        assert found.step_time_s == given.step_time_s
        assert (found.catalog_hash, found.data_hash) == ("catalog", "data")
        assert (found.advisor_version, found.machines) == ("0.1.0", "2 × p4d.24xlarge")
        age_s = (dt.datetime.now(dt.UTC) - found.created_at).total_seconds()
        assert 0 <= age_s < 60
        assert found.finished == ()

    def test_plans_are_listed_newest_first_and_have_names_by_default(self, store: Store) -> None:
        for machines in (1, 2, 3):
            store.save_plan(plan(machines), WORKLOAD)
        names = [saved.name for saved in store.plans()]
        assert names == [f"{n} × p4d.24xlarge, us-east-1, spot" for n in (3, 2, 1)]

    def test_the_same_plan_can_be_saved_twice(self, store: Store) -> None:
        first, second = (store.save_plan(plan(), WORKLOAD) for _ in range(2))
        assert first.id != second.id
        assert len(store.plans()) == 2

    def test_a_plan_of_a_later_version_is_listed_but_not_read(self, store: Store) -> None:
        saved = store.save_plan(plan(), WORKLOAD)
        text = saved.plan_json.replace('"version": 1', '"version": 99')
        later = saved.model_copy(update={"plan_json": text})
        assert later.cost_usd.value == 112.75
        with pytest.raises(InvalidInputError, match="version 99 cannot be read"):
            _ = later.plan

    def test_a_plan_is_renamed_and_the_name_comes_back(self, store: Store) -> None:
        key = store.save_plan(plan(), WORKLOAD, name="first").id
        edit = store.rename_plan(key, "second")
        assert (edit.before, edit.after) == ("first", "second")
        assert store.plan(key).name == "second"
        assert store.undo() == store.edits()[0]
        assert store.plan(key).name == "first"

    @pytest.mark.parametrize("name", [" \n", "a" * 201, "a\x00b", "a\x1b[31m", "a\u202eb"])
    def test_a_name_that_cannot_be_shown_is_refused(self, store: Store, name: str) -> None:
        key = store.save_plan(plan(), WORKLOAD, name="first").id
        with pytest.raises(InvalidInputError, match="cannot be the name"):
            store.rename_plan(key, name)
        assert store.plan(key).name == "first"

    def test_inputs_without_end_are_refused(self, store: Store) -> None:
        with pytest.raises(InvalidInputError, match="too long"):
            store.save_plan(plan(), WORKLOAD, inputs={"job": "x" * 200_000})
        assert store.plans() == []

    @pytest.mark.parametrize("bad", ["a\0b", "a\ud800b"])
    def test_text_that_cannot_be_stored_is_refused(self, store: Store, bad: str) -> None:
        with pytest.raises(InvalidInputError, match="saved plan, job"):
            store.save_plan(plan(), WORKLOAD, job=bad)
        key = store.save_plan(plan(), WORKLOAD, inputs={"job": bad}).id
        assert store.plan(key).inputs == {"job": bad}
        with pytest.raises(InvalidInputError, match="note"):
            store.finish_plan(key, hours=1, note=bad)
        assert store.plan(key).finished == ()

    def test_a_deleted_plan_comes_back(self, store: Store) -> None:
        kept = store.save_plan(plan(1), WORKLOAD)
        gone = store.save_plan(plan(2), WORKLOAD)
        store.delete_plan(gone.id)
        assert store.plans() == [kept]
        assert [saved.id for saved in store.plans(deleted=True)] == [gone.id]
        with pytest.raises(UnknownNameError):
            store.plan(gone.id)
        with pytest.raises(UnknownNameError):
            store.delete_plan(gone.id)
        store.undo()
        assert store.plans() == [gone, kept]

    def test_an_unknown_plan_is_named(self, store: Store) -> None:
        for ask in (store.plan, store.delete_plan):
            with pytest.raises(UnknownNameError, match="unknown plan “abc”"):
                ask("abc")
        with pytest.raises(UnknownNameError, match="unknown plan “abc”"):
            store.finish_plan("abc", hours=1)

    def test_finished_runs_stand_beside_their_plan(self, store: Store) -> None:
        key = store.save_plan(plan(), WORKLOAD).id
        first = store.finish_plan(key, hours=11.5, cost_usd=120, note="one restart")
        second = store.finish_plan(key, profile=measured())
        assert store.plan(key).finished == (first, second)
        assert store.plans()[0].finished == (first, second)
        assert (first.hours, first.cost_usd, first.step_time_s) == (11.5, 120, None)
        assert second.step_time_s == 2.2
        assert store.count(content_hash=second.profile_hash, origin="user") == 1

    def test_a_shipped_run_that_belongs_to_a_plan_becomes_the_users(self, store: Store) -> None:
        store.replace_seed([measured()], "tables")
        store.finish_plan(store.save_plan(plan(), WORKLOAD).id, profile=measured())
        store.replace_seed([], "no tables")
        assert store.count(origin="user") == 1

    @pytest.mark.parametrize(
        ("fields", "says"),
        [
            ({}, "needs hours, a cost or a profile"),
            ({"hours": -1}, r"FinishedRun\.hours.*given: -1"),
            ({"hours": float("nan")}, r"FinishedRun\.hours"),
            ({"cost_usd": -1}, r"FinishedRun\.cost_usd"),
        ],
    )
    def test_a_finished_run_of_nothing_is_refused(
        self, store: Store, fields: dict[str, float], says: str
    ) -> None:
        key = store.save_plan(plan(), WORKLOAD).id
        with pytest.raises(InvalidInputError, match=says):
            store.finish_plan(key, **fields)  # type: ignore[arg-type]  # numbers only
        assert store.plan(key).finished == ()

    def test_a_finished_run_can_be_taken_back(self, store: Store) -> None:
        key = store.save_plan(plan(), WORKLOAD).id
        kept = store.finish_plan(key, hours=11)
        typo = store.finish_plan(key, hours=1100, cost_usd=9, note="one restart")
        store.undo()
        assert store.plan(key).finished == store.plans()[0].finished == (kept,)
        (gone,) = store.finished_runs(key, deleted=True)
        assert gone.deleted_at is not None
        assert gone.model_copy(update={"deleted_at": None}) == typo
        assert store.finished_runs(key) == [kept]

    def test_edits_are_undone_in_turn_or_by_their_number(self, store: Store) -> None:
        one, two = (store.save_plan(plan(), WORKLOAD, name=f"plan {n}").id for n in (1, 2))
        first = store.rename_plan(one, "a")
        second = store.rename_plan(one, "b")
        other = store.rename_plan(two, "c")
        assert [edit.id for edit in store.edits()] == [other.id, second.id, first.id]
        assert [edit.id for edit in store.edits(one)] == [second.id, first.id]
        with pytest.raises(InvalidInputError, match=f"Undo edit {second.id} first"):
            store.undo(first.id)
        assert store.undo(second.id).undone_at is not None
        with pytest.raises(InvalidInputError, match="undone before"):
            store.undo(second.id)
        assert store.undo().id == other.id
        assert store.undo().id == first.id
        assert [saved.name for saved in store.plans()] == ["plan 2", "plan 1"]
        with pytest.raises(InvalidInputError, match="nothing to undo"):
            store.undo()
        with pytest.raises(InvalidInputError, match="no edit 12345"):
            store.undo(12345)
