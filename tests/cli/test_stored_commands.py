"""Saved plans, backup and restore in the terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command_line import run_fixture  # noqa: F401 - a fixture

from advisor import zoo
from advisor.store import Store
from advisor.testing.store_plans import INPUTS, WORKLOAD, measured, plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command_line import Ran

    from advisor.store import SavedPlan


@pytest.fixture
def saved() -> SavedPlan:
    """A plan in the store, with two finished runs."""
    with Store.open() as store:
        key = store.save_plan(
            plan(), WORKLOAD, name="Toy [bold]first[/bold]", job="toy · 1,000 samples",
            inputs=INPUTS,
        ).id  # fmt: skip
        store.finish_plan(key, hours=11, note="one restart")
        store.finish_plan(key, cost_usd=120, profile=measured())
        return store.plan(key)


def test_without_plans_it_says_so(run: Callable[..., Ran]) -> None:
    assert run("plans").out.startswith("There are no saved plans.")
    ran = run("plans", "--json")
    assert (ran.code, ran.json) == (0, [])


def test_plans_are_listed(run: Callable[..., Ran], saved: SavedPlan) -> None:
    ran = run("plans")
    assert (ran.code, ran.err) == (0, "")
    head, row = ran.out.splitlines()
    assert head.split()[:3] == ["id", "name", "saved"]
    for word in (saved.id, "Toy [bold]first[/bold]", "2 × p4d.24xlarge", "aws us-east-1", "spot",
                 "2026-07-20", "113", "90.0–140", "10.0", "8.0–13.0"):  # fmt: skip
        assert word in row


def test_plans_are_listed_as_json(run: Callable[..., Ran], saved: SavedPlan) -> None:
    (row,) = run("plans", "--json").json
    assert (row["id"], row["name"]) == (saved.id, saved.name)
    assert row["cost_usd"]["value"] == 112.75
    assert row["inputs"] == INPUTS
    assert [finished["hours"] for finished in row["finished"]] == [11, None]
    assert "plan_json" not in row


def test_a_plan_is_shown_beside_what_it_took(run: Callable[..., Ran], saved: SavedPlan) -> None:
    ran = run("plans", "show", saved.id[:5])
    assert ran.code == 0
    for word in ("Toy [bold]first[/bold]", "toy · 1,000 samples", "USD 9.83/h a machine",
                 "price list", "11.0 (+10 %)", "120 (+6 %)", "2.20 (+10 %)", "one restart",
                 "prediction: interpolated"):  # fmt: skip
        assert word in ran.out


@pytest.mark.parametrize("before", [True, False])
def test_a_plan_is_shown_as_json(run: Callable[..., Ran], saved: SavedPlan, before: bool) -> None:
    words = ["--json", "show", saved.id] if before else ["show", saved.id, "--json"]
    shown = run("plans", *words).json
    assert shown["plan"] == json.loads(saved.plan_json)
    assert shown["workload"] == json.loads(saved.workload_json)


def test_a_plan_is_renamed_deleted_and_brought_back(
    run: Callable[..., Ran], saved: SavedPlan
) -> None:
    assert "to “mine”" in run("plans", "rename", saved.id, "mine").out
    assert run("plans", "--json").json[0]["name"] == "mine"
    edit = run("plans", "delete", saved.id, "--json").json
    assert (edit["action"], edit["before"]) == ("delete_plan", "mine")
    assert run("plans", "--json").json == []
    ran = run("plans", "undo", str(edit["id"]))
    assert (ran.code, ran.out) == (0, f"Edit {edit['id']} (delete plan) is undone.\n")
    assert run("plans", "--json").json[0]["name"] == "mine"
    deleted = run("plans", "delete", saved.id).out
    assert "Deleted “mine”." in deleted
    assert "python -m advisor plans undo" in deleted


def test_a_run_is_recorded_beside_its_plan_and_taken_back(
    run: Callable[..., Ran], saved: SavedPlan
) -> None:
    ran = run("plans", "finish", saved.id, "--hours", "12.5", "--cost-usd", "200", "--note", "slow")
    assert ran.code == 0
    assert "12.5 h, inside the interval 8.0–13.0" in ran.out
    assert "200 USD, outside the interval 90.0–140" in ran.out
    last = run("plans", "show", saved.id, "--json").json["finished"][-1]
    assert (last["hours"], last["cost_usd"], last["note"]) == (12.5, 200, "slow")
    edit = run("plans", "finish", saved.id, "--cost-usd", "0", "--json").json
    assert edit["action"] == "finish_plan"
    run("plans", "undo", str(edit["id"]))
    assert len(run("plans", "--json").json[0]["finished"]) == 3


def test_a_log_of_the_run_is_compared_and_kept(run: Callable[..., Ran], tmp_path: Path) -> None:
    job = zoo.build_workload(zoo.get("gpt2"), steps=1000, sample_size=1024, global_batch=64)
    with Store.open() as store:
        key = store.save_plan(plan(), job, name="gpt").id
    file = tmp_path / "train.log"
    line = " iteration {}/ 9 | elapsed time per iteration (ms): 9400.0 | global batch size: {} |\n"
    file.write_text("".join(line.format(i, 64) for i in range(1, 6)))
    ran = run("plans", "finish", key, "--trace", str(file))
    assert (ran.code, ran.err) == (0, "")
    assert "9.40 s, outside the interval" in ran.out
    with Store.open() as store:
        assert store.count(origin="user") == 1
        assert store.plan(key).finished[0].step_time_s == pytest.approx(9.4)
    file.write_text("".join(line.format(i, 32) for i in range(1, 6)))
    refused = run("plans", "finish", key, "--trace", str(file))
    assert refused.code == 2
    assert "not of the plan: its global batch is 32" in refused.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["finish", "zzz", "--hours", "1"], "unknown plan “zzz”"),
        (["finish", ""], "unknown plan “”"),
        (["show", "zzz"], "unknown plan “zzz”"),
        (["show", ""], "unknown plan “”"),
        (["delete", "zzz"], "unknown plan “zzz”"),
        (["rename", "zzz", "x"], "unknown plan “zzz”"),
        (["show"], "ID"),
        (["explode"], "explode"),
        (["undo", "9999"], "no edit 9999"),
        (["undo", "x"], "EDIT"),
    ],
)
def test_what_cannot_be_done_is_explained(
    run: Callable[..., Ran], saved: SavedPlan, words: list[str], says: str
) -> None:
    ran = run("plans", *words, "--json")
    assert ran.code == 2
    assert says in ran.err
    assert says in ran.json["error"]["what"]
    assert [row["id"] for row in run("plans", "--json").json] == [saved.id]


def test_a_beginning_of_several_ids_is_refused(run: Callable[..., Ran]) -> None:
    with Store.open() as store:
        keys = [store.save_plan(plan(), WORKLOAD).id for _ in range(17)]
    first = next(key[0] for key in keys if sum(other[0] == key[0] for other in keys) > 1)
    ran = run("plans", "show", first)
    assert ran.code == 2
    assert "Give more letters" in ran.err


def test_a_name_that_would_command_the_terminal_is_refused(
    run: Callable[..., Ran], saved: SavedPlan
) -> None:
    ran = run("plans", "rename", saved.id, "a\x1b[31mb")
    assert (ran.code, "\x1b" in ran.err) == (2, False)
    assert run("plans", "--json").json[0]["name"] == saved.name


def test_a_backup_is_restored_elsewhere(
    run: Callable[..., Ran], saved: SavedPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "my.backup")
    ran = run("backup", file)
    assert ran.code == 0
    assert ran.out.startswith(f"Backed up 1 measured run (1 of your own) and 1 plan to {file}")
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "other"))
    ran = run("restore", file)
    assert ran.out.startswith("Restored 1 measured run (")
    assert run("plans", "--json").json[0]["id"] == saved.id
    again = run("restore", file, "--json")
    assert again.code == 2
    assert "--force" in again.json["error"]["todo"]
    told = run("restore", file, "--force", "--json").json
    assert (told["file"], told["plans"], told["runs"]) == (file, 1, 1)


def test_a_restore_that_fails_loses_nothing(
    run: Callable[..., Ran], saved: SavedPlan, tmp_path: Path
) -> None:
    file = tmp_path / "bad.backup"
    file.write_bytes(b"PK\x03\x04 no more")
    ran = run("restore", str(file), "--force")
    assert ran.code == 2
    assert "the store is as it was" in ran.err
    assert run("plans", "--json").json[0]["id"] == saved.id
    assert run("restore", str(tmp_path / "nothing")).code == 2
    assert run("backup", str(tmp_path / "no" / "where")).code == 2
    assert run("backup").code == 2


def test_a_damaged_store_is_explained(run: Callable[..., Ran], own_data_dir: Path) -> None:
    (own_data_dir / "advisor.db").write_bytes(b"garbage " * 100)
    for words in (["plans"], ["backup", "x"], ["restore", "x"]):
        ran = run(*words)
        assert ran.code == 2
        assert "damaged" in ran.err


def test_an_unreachable_server_is_explained_without_its_password(
    run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADVISOR_DATABASE_URL", "postgresql://me:hunter2@127.0.0.1:1/mine")
    ran = run("plans", "--json")
    assert ran.code == 2
    assert "cannot be reached" in ran.err
    assert "hunter2" not in ran.err + ran.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "needs hours, a cost or a profile"),
        (["--hours", "0"], "0 is not above 0"),
        (["--hours", "soon"], "not a number"),
        (["--cost-usd", "-1"], "cost_usd"),
        (["--hours", "1", "--note", "x" * 2001], "note"),
    ],
)
def test_a_run_that_cannot_be_recorded_is_explained(
    run: Callable[..., Ran], saved: SavedPlan, words: list[str], says: str
) -> None:
    ran = run("plans", "finish", saved.id, *words)
    assert ran.code == 2
    assert says in ran.err
    assert len(run("plans", "--json").json[0]["finished"]) == 2
