"""Numbers as people write and read them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.core import units
from advisor.core.errors import InvalidInputError
from advisor.core.units import NBSP, count, duration, hours, number, parse_count, percent, usd

if TYPE_CHECKING:
    from collections.abc import Callable

FORMATTERS = (number, usd, hours, duration, percent, count, units.data_size)


@pytest.mark.parametrize("write", FORMATTERS)
@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf])
def test_what_is_not_known_is_said_so_and_never_zero(
    write: Callable[[float | None], str], value: float | None
) -> None:
    assert write(value) == "not available"


@pytest.mark.parametrize("write", FORMATTERS)
def test_every_formatter_shows_its_result_in_its_docstring(
    write: Callable[[float | None], str],
) -> None:
    assert ">>>" in (write.__doc__ or "")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("10e9", 10e9), ("10 B", 10e9), ("10b", 10e9), ("1,024", 1024), ("1_000_000", 1e6),
        (" 2.5k ", 2500), ("0.5", 0.5), (".5", 0.5), ("10.", 10), ("-3", -3), ("+3", 3),
        ("1,234,567.5", 1234567.5), ("3T", 3e12), (f"6.74{NBSP}B", 6.74e9), ("1e-3", 1e-3),
    ],
)  # fmt: skip
def test_counts_are_read_as_people_write_them(written: str, value: float) -> None:
    assert parse_count(written, "tokens") == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "written",
    ["", " ", "ten", "1,5", "0,5 B", "1,0000", "1.2.3", "1e", "--1", "5 x", "nan", "inf", "1e999",
     "1e308 T", ",", ".", "1,", "0x10", "10 BB", "5%"],
)  # fmt: skip
def test_what_is_no_count_is_refused_with_the_field_and_the_text(written: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_count(written, "tokens")
    assert caught.value.where == "tokens"
    assert f"“{written.strip()}”" in str(caught.value)


@given(st.floats(min_value=1, max_value=9.99e14))
def test_a_written_count_reads_back_to_three_digits(value: float) -> None:
    assert parse_count(count(value), "tokens") == pytest.approx(value, rel=0.0051)


@given(st.integers(0, 99_999))
def test_a_written_small_count_reads_back_exactly(value: int) -> None:
    assert parse_count(count(value), "batch") == value


@given(st.floats(min_value=-1e15, max_value=1e15))
def test_a_written_number_reads_back_to_its_digits(value: float) -> None:
    assert parse_count(number(value), "") == pytest.approx(value, rel=0.0051, abs=1e-300)


@given(st.floats(min_value=1e-6, max_value=1e12))
def test_rounding_keeps_three_digits_and_is_idempotent(value: float) -> None:
    once = units.round_significant(value)
    assert once == pytest.approx(value, rel=0.0051)
    assert units.round_significant(once) == once


def test_numbers_at_a_change_of_unit_take_the_larger_unit() -> None:
    assert count(999_999) == f"1.00{NBSP}M"
    assert count(999_999_999) == f"1.00{NBSP}B"
    assert duration(0.9999) == f"1.00{NBSP}s"
    assert duration(3599.9) == f"1.0{NBSP}h"
    assert number(999.9) == "1,000"
    assert number(9.999) == "10.0"


def test_percent_never_claims_certainty() -> None:
    assert percent(1.0) == f">99{NBSP}%"
    assert percent(0.0) == f"<1{NBSP}%"
    assert percent(0.5) == f"50{NBSP}%"


def test_hours_follow_the_estimate_they_belong_to() -> None:
    assert hours(19.96) == "20.0"
    assert hours(22.6, like=19.8) == "22.6"
    assert hours(17.0, like=31) == "17"
    assert hours(0.3166) == "0.32"


def test_money_below_zero_has_its_sign_first() -> None:
    assert usd(-1243.7) == "-$1,240"
    assert usd(0) == "$0"
