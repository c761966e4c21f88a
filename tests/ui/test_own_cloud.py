"""Own machines among the clouds: chosen by default where there are some, in no link by default."""

from __future__ import annotations

from pathlib import Path

import pytest
from ui_apps import open_page, text_of

from advisor.catalog.own import MACHINES, remove
from advisor.testing.own_lists import LAB, machines_csv, write
from advisor.ui.address import address_of
from advisor.ui.state import DEFAULT_CLOUDS, DEFAULT_JOB, Inputs, inputs_of

KNOWN = ["aws", "azure", "gcp", "own", "lambda"]
CHEAP = machines_csv(LAB.replace("9.50", "0.50"))


@pytest.mark.parametrize(
    ("chosen", "searched"),
    [
        (DEFAULT_CLOUDS, {"aws", "azure", "gcp", "own"}),
        (("aws", "own"), {"aws", "own"}),
        (("aws",), {"aws"}),
        ((*DEFAULT_CLOUDS, "other"), None),
        (("other",), {"lambda"}),
        ((), None),
    ],
)
def test_the_clouds_chosen_are_the_clouds_searched(
    chosen: tuple[str, ...], searched: set[str] | None
) -> None:
    limits = Inputs(job=DEFAULT_JOB, clouds=chosen).limits(KNOWN)
    assert limits.clouds == searched


def test_without_own_machines_the_default_names_none() -> None:
    limits = Inputs(job=DEFAULT_JOB).limits(["aws", "azure", "gcp", "lambda"])
    assert limits.clouds == {"aws", "azure", "gcp"}


def test_a_link_names_clouds_only_where_they_are_not_the_usual_ones() -> None:
    assert "clouds" not in address_of(Inputs(job=DEFAULT_JOB))
    chosen = Inputs(job=DEFAULT_JOB, clouds=("aws", "own"))
    address = address_of(chosen)
    assert address["clouds"] == ["AWS", "Own"]
    assert inputs_of(address) == chosen


def test_own_machines_join_the_choice_as_they_come_and_leave_as_they_go(engine_copy: Path) -> None:
    test = open_page("advise", job=DEFAULT_JOB, deadline="72")
    clouds = test.button_group(key="clouds")
    assert "Own" not in clouds.options
    write(MACHINES, CHEAP)
    test.run()
    clouds = test.button_group(key="clouds")
    assert "Own" in clouds.options
    assert clouds.value == list(DEFAULT_CLOUDS)
    assert "lab-h100" in text_of(test)
    remove(MACHINES)
    test.run()
    assert test.button_group(key="clouds").value == ["aws", "gcp", "azure"]
    assert "lab-h100" not in text_of(test)


def test_a_choice_without_own_machines_stays_so(engine_copy: Path) -> None:
    write(MACHINES, CHEAP)
    inputs = Inputs(job=DEFAULT_JOB, deadline_h=72.0, clouds=("aws", "gcp", "azure"))
    test = open_page("advise", **address_of(inputs))
    assert test.button_group(key="clouds").value == ["aws", "gcp", "azure"]
    assert "lab-h100" not in text_of(test)


def test_a_link_with_own_machines_is_read_where_there_are_none(engine_copy: Path) -> None:
    test = open_page("advise", job=DEFAULT_JOB, deadline="72", clouds=["AWS", "Own"])
    assert "Cheapest" in text_of(test)
    assert set(test.button_group(key="clouds").value) <= {"aws", "gcp", "azure"}


@pytest.mark.parametrize(
    "inputs",
    [
        Inputs(job=DEFAULT_JOB, markets=("spot", "reserved_1y")),
        Inputs(job=DEFAULT_JOB, clouds=("gcp", "other")),
        Inputs(job=DEFAULT_JOB, families=("Volta", "Hopper")),
    ],
)
def test_advise_reads_from_a_link_what_another_page_wrote(
    engine_copy: Path, inputs: Inputs
) -> None:
    test = open_page("advise", **address_of(inputs))
    for name in ("markets", "clouds", "families"):
        assert set(test.button_group(key=name).value) == set(getattr(inputs, name)) - {"own"}
    assert inputs_of(address_of(inputs)) == inputs
