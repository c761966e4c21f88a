"""What the store does with saved plans."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from advisor.store import journal, plans
from advisor.store.database import Database
from advisor.store.profile_edits import add_runs
from advisor.store.records import Edit, FinishedRun, SavedPlan
from advisor.store.rows import check_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from advisor.domain import Plan, Profile, Workload


class PlanMethods(Database):
    """Saved plans and their finished runs; a part of `Store`."""

    def save_plan(
        self,
        plan: Plan,
        workload: Workload,
        *,
        name: str = "",
        job: str = "",
        inputs: Mapping[str, str | Sequence[str]] | None = None,
    ) -> SavedPlan:
        """Keep a plan with its price, its prediction and the job, as they are now.

        Parameters
        ----------
        plan, workload : Plan, Workload
            What was advised, and for which job.
        name : str
            For lists; by default the machines, the region and the market.
        job : str
            The job as one line, as its author wrote it.
        inputs : mapping of str to str or list of str, optional
            The page's inputs by name, as its address holds them, to make the advice anew.

        Raises
        ------
        InvalidInputError
            If the name, the job or the inputs cannot be kept.
        """
        default = f"{plan.cluster}, {plan.offer.region}, {plan.offer.market.replace('_', ' ')}"
        title = plans.clean_name(name or default[:200])
        text = plans.inputs_json(inputs or {})
        check_text([("job", job)], "saved plan")
        with self._writing() as connection:
            key = plans.insert_plan(connection, plan, workload, name=title, job=job, inputs=text)
            return plans.select_plan(connection, key)

    def plans(self, *, deleted: bool = False) -> list[SavedPlan]:
        """Return the saved plans with their finished runs, newest first.

        Parameters
        ----------
        deleted : bool
            Return those that were deleted instead.
        """
        with self._reading() as connection:
            return plans.select_plans(connection, deleted=deleted)

    def plan(self, plan_id: str) -> SavedPlan:
        """Return a saved plan.

        Raises
        ------
        UnknownNameError
            If there is none with this id, or it was deleted.
        """
        with self._reading() as connection:
            return plans.select_plan(connection, plan_id)

    def finished_runs(self, plan_id: str, *, deleted: bool = False) -> list[FinishedRun]:
        """Return the finished runs of a plan, oldest first.

        Parameters
        ----------
        plan_id : str
            The saved plan.
        deleted : bool
            Return those that were taken back instead.

        Raises
        ------
        UnknownNameError
            If there is no such plan.
        """
        with self._reading() as connection:
            plans.select_plan(connection, plan_id)
            return plans.select_finished(connection, plan_id, deleted=deleted)

    def rename_plan(self, plan_id: str, name: str) -> Edit:
        """Name a plan anew; can be undone.

        Raises
        ------
        UnknownNameError
            If there is no such plan.
        InvalidInputError
            If the name cannot be kept.
        """
        title = plans.clean_name(name)
        with self._writing() as connection:
            before = plans.select_plan(connection, plan_id).name
            plans.set_name(connection, plan_id, title)
            return journal.record(connection, "rename_plan", plan_id, before=before, after=title)

    def delete_plan(self, plan_id: str) -> Edit:
        """Delete a plan; can be undone.

        Raises
        ------
        UnknownNameError
            If there is no such plan.
        """
        with self._writing() as connection:
            name = plans.select_plan(connection, plan_id).name
            plans.set_deleted(connection, plan_id, deleted=True)
            return journal.record(connection, "delete_plan", plan_id, before=name)

    def finish_plan(
        self,
        plan_id: str,
        *,
        hours: float | None = None,
        cost_usd: float | None = None,
        profile: Profile | None = None,
        note: str = "",
    ) -> FinishedRun:
        """Record what a run of a plan took in fact; can be undone.

        Parameters
        ----------
        plan_id : str
            The saved plan that was run.
        hours : float, optional
            From the start of the machines to the end of the job [h].
        cost_usd : float, optional
            The bill [USD].
        profile : Profile, optional
            What was measured; it is added to the store as the user's own.
        note : str
            In the user's words.

        Raises
        ------
        UnknownNameError
            If there is no such plan.
        InvalidInputError
            If nothing was measured, a number is out of range, or a text cannot be kept.
        """
        key = profile.content_hash if profile else ""
        run = FinishedRun.make(
            id=plans.new_id(), plan_id=plan_id, recorded_at=dt.datetime.now(dt.UTC), hours=hours,
            cost_usd=cost_usd, profile_hash=key, note=note,
            step_time_s=profile.step_time_s if profile else None,
        )  # fmt: skip
        check_text([("note", note)], "finished run")
        with self._writing() as connection:
            plans.select_plan(connection, plan_id)
            if profile:
                add_runs(connection, {key: profile}, "user")
            plans.insert_finished(connection, run)
            journal.record(connection, "finish_plan", run.id, before=plan_id)
        return run
