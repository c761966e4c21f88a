"""No text of a store, a catalog or a trace reaches the terminal as anything but text."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from command_line import run_fixture  # noqa: F401 - a fixture
from rich.table import Table

from advisor.advice.limits import limits_named, listed_offers
from advisor.catalog import load
from advisor.cli import tables
from advisor.cli.text import plain
from advisor.store import Store
from advisor.testing.store_plans import WORKLOAD, plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command_line import Ran

# Clears the screen, changes the title, turns the line around; and markup.
HOSTILE = "\x1b[2J\x1b]0;x\x07\x9b31m\u202e[red]:bomb:[/bold]\\"


def is_harmless(out: str) -> bool:
    return all(sign.isprintable() or sign in "\n\N{NO-BREAK SPACE}" for sign in out)


# What is a number, a day, JSON, one of a few words, or is looked up by, cannot hold such text.
TEXTS = (
    "name", "job", "machines", "cloud", "region", "price_source", "catalog_hash",
    "data_hash", "advisor_version",
)  # fmt: skip


@pytest.mark.parametrize("column", TEXTS)
def test_a_text_of_a_plan_cannot_steer_the_terminal(
    run: Callable[..., Ran], own_data_dir: Path, column: str
) -> None:
    with Store.open() as store:
        key = store.save_plan(plan(), WORKLOAD, name="mine", job="toy").id
        store.finish_plan(key, hours=1, note=HOSTILE)
    with closing(sqlite3.connect(own_data_dir / "advisor.db")) as raw:
        raw.execute(f"UPDATE plans SET {column} = ?", [HOSTILE])  # noqa: S608 - names of ours
        raw.commit()
    for command in (("plans",), ("plans", "show", key)):
        ran = run(*command)
        assert (ran.code, ran.err) == (0, "")
        assert is_harmless(ran.out), ran.out


def test_a_text_of_a_catalog_cannot_steer_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    catalog = load()
    limits = limits_named(catalog, default_markets=None, usual=False)
    offers = listed_offers(catalog, **limits).head(1)
    offers = offers.astype({"accelerator": str, "flags": str, "market": str})
    names = ["cloud", "instance_type", "region", "market", "accelerator", "flags"]
    hostile = offers.assign(**dict.fromkeys(names, HOSTILE))
    tables.show_offers(hostile, 1, catalog)
    assert is_harmless(capsys.readouterr().out)


def test_text_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("", box=None)
    table.add_row(plain("a [red]b[/red] :bomb:"))
    table.add_row(plain(12))
    tables.console().print(table)
    assert [line.strip() for line in capsys.readouterr().out.splitlines()] == [
        "", "a [red]b[/red] :bomb:", "12",
    ]  # fmt: skip
