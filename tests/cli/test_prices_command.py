"""Own machines, discounts and credits in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_line import run_fixture  # noqa: F401 - a fixture

from advisor.catalog.own import MACHINES
from advisor.core.paths import data_dir
from advisor.testing.own_lists import AWS_DISCOUNT, BOX, LAB, machines_csv, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command_line import Ran


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], str]:
    """Writes a CSV file to import."""

    def write_file(text: str) -> str:
        path = tmp_path / "prices.csv"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write_file


def test_without_lists_it_says_how_to_begin(run: Callable[..., Ran]) -> None:
    ran = run("prices")
    assert (ran.code, ran.err) == (0, "")
    assert "prices template machines" in ran.out


def test_a_template_can_be_imported_listed_and_removed(
    run: Callable[..., Ran], file: Callable[[str], str]
) -> None:
    names = ("machines", "discounts", "credits", "commitments", "rates", "carbon")
    for name in names:
        path = file(run("prices", "template", name).out)
        assert run("prices", "import", path).out == f"Imported 1 row of {name}.\n"
    listed = run("prices", "--json").json
    assert listed["machines"]["rows"][0]["name"] == "lab-h100"
    assert listed["machines"]["rows"][0]["as_of"] == "2026-07-01"
    assert {name: len(one["rows"]) for name, one in listed.items()} == dict.fromkeys(names, 1)
    shown = run("prices").out
    assert "lab-h100" in shown
    assert "discount_percent" in shown
    assert run("prices", "remove", "machines").out == "Removed 1 row of machines.\n"
    assert run("prices", "remove", "machines").out == "There was no list of machines.\n"
    assert run("prices", "--json").json["machines"]["rows"] == []


def test_an_import_replaces_the_list(run: Callable[..., Ran], file: Callable[[str], str]) -> None:
    write(MACHINES, machines_csv(LAB, BOX))
    ran = run("prices", "import", file(machines_csv(BOX)), "--json")
    assert ran.json == {"list": "machines", "rows": 1, "replaced": 2}


def test_own_machines_and_discounts_are_in_the_catalog(
    run: Callable[..., Ran], file: Callable[[str], str]
) -> None:
    run("prices", "import", file(machines_csv(LAB)))
    run("prices", "import", file(AWS_DISCOUNT))
    shown = run("catalog", "--cloud", "own").out
    for word in ("lab-h100", "eu-lab", "8 × H100", "9.50", "1.188", "4 available"):
        assert word in shown
    priced = run("catalog", "--cloud", "aws", "--gpu", "H100", "--market", "on-demand")
    assert "your discount 12 %" in priced.out
    (row,) = run("catalog", "--cloud", "own", "--json").json
    assert (row["available"], row["list_usd_per_h"]) == (4, 9.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (machines_csv(LAB.replace("9.50", "nan")), "prices.csv, row 2, column usd_per_h: “nan”"),
        (machines_csv(LAB).replace("vcpus", "cpus"), "there is no column “cpus”. Did you mean"),
        (machines_csv(LAB.replace("H100,", "H1000,")), "unknown accelerator “H1000”. Did you"),
        (machines_csv(), "the file has a header and no rows."),
        ("a,b\n1,2\n", "no column is known"),
        ("", "the file is empty"),
    ],
)
def test_a_bad_file_changes_nothing_and_says_why(
    run: Callable[..., Ran], file: Callable[[str], str], text: str, said: str
) -> None:
    write(MACHINES, machines_csv(BOX))
    ran = run("prices", "import", file(text))
    assert ran.code == 2
    assert said in ran.err
    assert run("prices", "--json").json["machines"]["rows"][0]["name"] == "box"


def test_every_problem_is_said(run: Callable[..., Ran], file: Callable[[str], str]) -> None:
    bad = machines_csv(LAB.replace("9.50", "-1"), BOX.replace("0.80", "free"))
    ran = run("prices", "import", file(bad), "--json")
    assert "row 3, column usd_per_h: “free” is not a number." in ran.err
    assert ran.json["error"]["where"] == "prices.csv, row 2, column usd_per_h"


def test_a_missing_file_and_an_unknown_list_are_said(run: Callable[..., Ran]) -> None:
    assert "cannot be read" in run("prices", "import", "absent.csv").err
    ran = run("prices", "remove", "prices")
    assert ran.code == 2
    assert "Use machines, discounts, credits, commitments, rates, carbon." in ran.err


def test_a_broken_list_is_a_note_beside_the_answer(run: Callable[..., Ran]) -> None:
    write(MACHINES, machines_csv(LAB.replace("9.50", "NaN")))
    ran = run("catalog", "--limit", "1")
    assert ran.code == 0
    assert ran.err.startswith("advisor: note: own: own_machines.csv, row 2, column usd_per_h:")
    shown = run("prices").out
    assert "“NaN” is not a number." in shown
    assert "not used until this is corrected" in shown
    assert str(data_dir()) not in ran.err + shown
