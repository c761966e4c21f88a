"""A process that dies while it adds leaves all or nothing, and a repeat completes it."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from advisor.store import AddResult, Store
from advisor.testing.store_runs import run

RUNS = 10_000

# Adds many runs; with "pause" it stops for good between the last INSERT and the COMMIT.
SCRIPT = f"""
import sys, time
from sqlalchemy import event
from advisor.store import Store
from advisor.testing.store_runs import run

url, mode = sys.argv[1:]
runs = [run(i) for i in range({RUNS})]
with Store.open(url) as store:
    if mode == "pause":
        @event.listens_for(store._engine, "after_cursor_execute")
        def _(connection, cursor, statement, parameters, context, executemany):
            if statement.startswith("INSERT INTO profiles"):
                print("written", flush=True)
                time.sleep(60)
    print("adding", flush=True)
    store.add(runs)
    print("added", flush=True)
    time.sleep(60)
"""


def killed_while_adding(url: str, mode: str, *, after: str, delay_s: float = 0.0) -> None:
    command = [sys.executable, "-c", SCRIPT, url, mode]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == after:
                break
        time.sleep(delay_s)
        process.kill()


def count_and_complete(url: str) -> int:
    with Store.open(url) as store:
        found = store.count()
        assert len(store.profiles()) == found
        result = store.add(run(i) for i in range(RUNS))
        assert result == AddResult(added=RUNS - found, known=found)
        assert store.count() == RUNS
    return found


def test_killed_before_the_commit_nothing_is_there(any_url: str) -> None:
    killed_while_adding(any_url, "pause", after="written")
    assert count_and_complete(any_url) == 0


def test_killed_after_the_commit_all_is_there(any_url: str) -> None:
    killed_while_adding(any_url, "straight", after="added")
    assert count_and_complete(any_url) == RUNS


@pytest.mark.parametrize("delay_s", [0.1, 0.4])
def test_killed_at_any_moment_all_or_nothing_is_there(any_url: str, delay_s: float) -> None:
    killed_while_adding(any_url, "straight", after="adding", delay_s=delay_s)
    assert count_and_complete(any_url) in {0, RUNS}
