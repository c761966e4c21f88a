"""Commands on the store: saved plans, backup and restore."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.advice.plan_runs import run_of_plan
from advisor.advice.saved import outcomes
from advisor.catalog import load
from advisor.cli import stored_tables, values
from advisor.core.errors import InvalidInputError
from advisor.core.units import data_size, hours, interval, number
from advisor.store import Store

if TYPE_CHECKING:
    from advisor.advice.saved import Outcome
    from advisor.store import BackupSummary, Edit, SavedPlan


def add_commands(actions: Any) -> None:
    """Add ``plans``, ``backup`` and ``restore`` to the parser's commands."""
    command = actions.add_parser("plans", help="saved plans: list, show, rename, delete, finish")
    command.set_defaults(run=list_plans)
    _add_json(command, default=False)
    what = command.add_subparsers(metavar="ACTION")
    for name, run, words in (
        ("show", show_plan, "one plan with its prediction and its finished runs"),
        ("rename", rename_plan, "give a plan another name"),
        ("delete", delete_plan, "delete a plan; can be undone"),
        ("finish", finish_plan, "record what a run of the plan took; can be undone"),
    ):
        action = what.add_parser(name, help=words)
        action.set_defaults(run=run)
        action.add_argument("id", metavar="ID", help="as listed; its first letters are enough")
        if name == "rename":
            action.add_argument("name", metavar="NAME")
        if name == "finish":
            action.add_argument(
                "--hours",
                type=values.positive("--hours"),
                metavar="H",
                help="from the start of the machines to the end of the job",
            )
            action.add_argument(
                "--cost-usd", type=values.count("--cost-usd"), metavar="USD", help="the bill"
            )
            action.add_argument("--trace", type=Path, metavar="FILE",
                                help="a trace or log of the run: its step is compared and "
                                "kept")  # fmt: skip
            action.add_argument("--note", default="", metavar="TEXT")
        _add_json(action)
    undo = what.add_parser("undo", help="take back an edit")
    undo.set_defaults(run=undo_edit)
    undo.add_argument("edit", metavar="EDIT", type=values.whole("EDIT"), help="as told by the edit")
    _add_json(undo)

    backup = actions.add_parser("backup", help="write the store into one file")
    backup.set_defaults(run=write_backup)
    restore = actions.add_parser("restore", help="read the store from a backup")
    restore.set_defaults(run=read_backup)
    restore.add_argument("--force", action="store_true",
                         help="replace plans, runs and edits of your own")  # fmt: skip
    for command in (backup, restore):
        command.add_argument("file", type=Path, metavar="FILE")
        _add_json(command, default=False)


def list_plans(options: argparse.Namespace) -> int:
    """List the saved plans, newest first."""
    with Store.open() as store:
        plans = store.plans()
    if options.json:
        _print_json([_fields(plan) for plan in plans])
    else:
        stored_tables.show_plans(plans)
    return 0


def show_plan(options: argparse.Namespace) -> int:
    """Show one saved plan."""
    with Store.open() as store:
        plan = found_plan(store, options.id)
    if options.json:
        whole = {"plan": json.loads(plan.plan_json), "workload": json.loads(plan.workload_json)}
        _print_json(_fields(plan) | whole)
    else:
        stored_tables.show_plan(plan)
    return 0


def rename_plan(options: argparse.Namespace) -> int:
    """Name a plan anew."""
    with Store.open() as store:
        edit = store.rename_plan(found_plan(store, options.id).id, options.name)
    return _said(options, f"Renamed “{edit.before}” to “{edit.after}”.", edit)


def delete_plan(options: argparse.Namespace) -> int:
    """Delete a plan."""
    with Store.open() as store:
        edit = store.delete_plan(found_plan(store, options.id).id)
    return _said(options, f"Deleted “{edit.before}”.", edit)


def finish_plan(options: argparse.Namespace) -> int:
    """Record what a run of a plan took."""
    with Store.open() as store:
        plan = found_plan(store, options.id)
        profile = run_of_plan(options.trace, plan, load()) if options.trace else None
        run = store.finish_plan(
            plan.id, hours=options.hours, cost_usd=options.cost_usd, profile=profile,
            note=options.note,
        )  # fmt: skip
        edit = store.edits(run.id, most=1)[0]
    said = [_against(outcome) for outcome in outcomes(plan, run)]
    return _said(options, f"Recorded for “{plan.name}”: {'; '.join(said)}.", edit)


def undo_edit(options: argparse.Namespace) -> int:
    """Take back an edit."""
    with Store.open() as store:
        edit = store.undo(options.edit)
    words = edit.action.replace("_", " ")
    return _said(options, f"Edit {edit.id} ({words}) is undone.", edit)


def write_backup(options: argparse.Namespace) -> int:
    """Back the store up."""
    with Store.open() as store:
        told = store.backup(options.file)
    return _told(options, f"Backed up {_contents(told)} to", told)


def read_backup(options: argparse.Namespace) -> int:
    """Restore the store."""
    with Store.open() as store:
        told = store.restore(options.file, replace=options.force)
    return _told(options, f"Restored {_contents(told)} from", told)


def _add_json(command: argparse.ArgumentParser, default: object = argparse.SUPPRESS) -> None:
    # An action of “plans” leaves alone what stood before it.
    command.add_argument("--json", action="store_true", default=default, help="print JSON")


def found_plan(store: Store, given: str) -> SavedPlan:
    """Return the plan with this id, or with the only id that begins so."""
    matches = [plan for plan in store.plans() if given and plan.id.startswith(given.lower())]
    if len(matches) > 1:
        raise InvalidInputError(
            f"“{given}” is the beginning of {len(matches)} ids.",
            where="plans",
            todo=f"Give more letters: {', '.join(plan.id for plan in matches[:3])}.",
        )
    return matches[0] if matches else store.plan(given)


def _fields(plan: SavedPlan) -> dict[str, Any]:
    return plan.model_dump(mode="json", exclude={"plan_json", "workload_json"})


def _against(outcome: Outcome) -> str:
    """Return what a run took, and whether it lies where it was predicted."""
    unit, where = outcome.predicted.unit, "inside" if outcome.inside else "outside"
    write = hours if unit == "h" else number
    bounds = interval(*(write(bound) for bound in (outcome.predicted.low, outcome.predicted.high)))
    return f"{write(outcome.measured)} {unit}, {where} the interval {bounds}"


def _contents(told: BackupSummary) -> str:
    runs, plans = _counted(told.runs, "measured run"), _counted(told.plans, "plan")
    return f"{runs} ({told.own_runs:,} of your own) and {plans}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _said(options: argparse.Namespace, words: str, edit: Edit) -> int:
    if options.json:
        _print_json(edit.model_dump(mode="json"))
    else:
        stored_tables.say(words)
        if edit.undone_at is None:
            stored_tables.say(f"To undo: python -m advisor plans undo {edit.id}", dim=True)
    return 0


def _told(options: argparse.Namespace, words: str, told: BackupSummary) -> int:
    if options.json:
        fields = dataclasses.asdict(told) | {"made_at": told.made_at.isoformat()}
        _print_json({"file": str(options.file)} | fields)
    else:
        stored_tables.say(f"{words} {options.file} ({data_size(told.size_bytes)}).")
    return 0


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=1, allow_nan=False))  # noqa: T201 - this is the output
