"""Machines as people write them."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor import catalog as catalogs
from advisor.advice.machines import parse_machines
from advisor.core.errors import InvalidInputError

CATALOG = catalogs.load()


@pytest.mark.parametrize(
    ("text", "count", "name"),
    [
        ("4 x p4d.24xlarge", 4, "p4d.24xlarge"),
        ("4xp4d.24xlarge", 4, "p4d.24xlarge"),
        ("4 × p4d.24xlarge", 4, "p4d.24xlarge"),
        (" 16*p4d.24xlarge ", 16, "p4d.24xlarge"),
        ("2 X p4d.24xlarge", 2, "p4d.24xlarge"),
        ("1 p4d.24xlarge", 1, "p4d.24xlarge"),
        ("2 x azure/Standard_NC24s_v3", 2, "Standard_NC24s_v3"),
        ("3 x aws / p4d.24xlarge", 3, "p4d.24xlarge"),
        ("2 x lambda/8x-A100-40GB", 2, "8x-A100-40GB"),
        ("1 x 8x-RTX-A4000-64vcpu-128gb", 1, "8x-RTX-A4000-64vcpu-128gb"),
        ("5 x GPU HUGE", 5, "GPU HUGE"),
    ],
)
def test_a_count_and_a_name_are_read(text: str, count: int, name: str) -> None:
    found = parse_machines(text, CATALOG)
    assert (found[0], found[1].name) == (count, name)


@pytest.mark.parametrize("position", range(0, 350, 7))
def test_every_machine_is_found_by_the_name_the_answer_gives_it(position: int) -> None:
    row = CATALOG.machines.iloc[position]
    text = f"3 × {row['cloud']}/{row['instance_type']}"
    count, machine = parse_machines(text, CATALOG)
    assert (count, machine.cloud, machine.name) == (3, row["cloud"], row["instance_type"])


@pytest.mark.parametrize(
    "text",
    ["", "x", "p4d.24xlarge", "0 x p4d.24xlarge", "-1 x p4d.24xlarge", "20001 x p4d.24xlarge",
     "99999999999 x p4d.24xlarge", "four x p4d.24xlarge", "4", "4 x", "1.5 x p4d.24xlarge",
     "² x p4d.24xlarge"],
)  # fmt: skip
def test_other_forms_are_refused_and_quoted(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_machines(text, CATALOG)
    assert text.strip() in str(caught.value) or "“x”" in str(caught.value)


def test_an_unknown_machine_offers_the_nearest() -> None:
    with pytest.raises(InvalidInputError, match=r"“p4d\.24xlarg”.*p4d\.24xlarge"):
        parse_machines("4 x p4d.24xlarg", CATALOG)


def test_a_name_of_several_clouds_says_how_to_write_it() -> None:
    with pytest.raises(InvalidInputError, match="CLOUD/8x-A100-40GB") as caught:
        parse_machines("2 x 8x-A100-40GB", CATALOG)
    assert "lambda" in str(caught.value)


@settings(deadline=None)
@given(st.text(max_size=30))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    with suppress(InvalidInputError):
        count, machine = parse_machines(text, CATALOG)
        assert count >= 1
        assert machine.name in text
