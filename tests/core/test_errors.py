"""Errors say what, where and what to do, and survive a trip to another process."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING

import pytest

from advisor.core import errors
from advisor.core.errors import (
    AdvisorError,
    CatalogError,
    InvalidInputError,
    NoFeasiblePlanError,
    PredictionError,
    StoreError,
    UnknownNameError,
    nearest_names,
)

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = (CatalogError, InvalidInputError, NoFeasiblePlanError, PredictionError, StoreError)


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_has_where_what_and_what_to_do_in_this_order(kind: type[AdvisorError]) -> None:
    error = kind("0 is not a batch.", where="global batch", todo="Give 1 or more.")
    assert str(error) == "global batch: 0 is not a batch. Give 1 or more."
    assert isinstance(error, AdvisorError)


def test_a_message_may_be_what_alone() -> None:
    assert str(AdvisorError("It is broken.")) == "It is broken."


def test_every_kind_is_in_the_tree_of_the_docstring() -> None:
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, Exception)]
    assert set(KINDS) < set(kinds)
    for kind in kinds:
        assert kind.__name__ in (errors.__doc__ or "")


@pytest.mark.parametrize("make", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))])  # noqa: S301
def test_an_error_survives_copying_and_pickling(
    make: Callable[[AdvisorError], AdvisorError],
) -> None:
    error = UnknownNameError("model", "lama-2-7b", ["llama-2-7b", "bert"], where="job")
    again = make(error)
    assert type(again) is UnknownNameError
    assert str(again) == str(error)
    assert (again.what, again.where, again.todo) == (error.what, error.where, error.todo)
    assert again.nearest == ["llama-2-7b"]


def test_an_unknown_name_offers_the_nearest() -> None:
    error = UnknownNameError("cloud", "asw", ["aws", "azure", "gcp"])
    assert str(error) == "unknown cloud “asw”. Did you mean aws?"


def test_an_unknown_name_unlike_all_others_offers_nothing() -> None:
    assert str(UnknownNameError("cloud", "xyzzy", ["aws"])) == "unknown cloud “xyzzy”."
    assert str(UnknownNameError("cloud", "", [])) == "unknown cloud “”."


def test_nearest_names_ignore_case_and_find_parts() -> None:
    known = ["p4d.24xlarge", "p5.48xlarge", "Standard_ND96asr_v4"]
    assert nearest_names("P4D.24XLARGE", known)[0] == "p4d.24xlarge"
    assert nearest_names("nd96asr", known) == ["Standard_ND96asr_v4"]
    assert len(nearest_names("xlarge", [f"m{i}.xlarge" for i in range(9)])) == 3
    assert nearest_names("", known) == []
