"""Pipeline schedules."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.predictor.pipeline import bubble_ratio, micro_batches_in_flight


@pytest.mark.parametrize(
    ("stages", "micro_batches", "ratio"),
    [(4, 8, 3 / 8), (8, 64, 7 / 64), (1, 1, 0.0), (8, 8, 7 / 8), (64, 1, 63.0)],
)
def test_the_bubble_is_that_of_narayanan_et_al(stages, micro_batches, ratio) -> None:
    # Narayanan et al., 2021, arXiv 2104.04473, section 2.2.1: (p - 1) / m; figure 3 shows
    # four stages and eight micro-batches.
    assert bubble_ratio(stages, micro_batches) == pytest.approx(ratio)


def test_the_bubble_shrinks_with_the_micro_batches_and_grows_with_the_stages() -> None:
    assert (np.diff(bubble_ratio(8.0, np.arange(1.0, 100.0))) < 0).all()
    assert (np.diff(bubble_ratio(np.arange(1.0, 100.0), 16.0)) > 0).all()


def test_no_more_micro_batches_are_held_than_there_are_stages() -> None:
    # Section 2.2.1: 1F1B keeps at most p micro-batches in flight, GPipe all m.
    assert micro_batches_in_flight(4.0, 8.0) == 4
    assert micro_batches_in_flight(8.0, 3.0) == 3
    assert micro_batches_in_flight(1.0, 128.0) == 1
