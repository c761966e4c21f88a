"""Rows of a benchmark: bars judged, and printable whatever number they came from."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import report


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        (report.at_most("a", np.float64(1), "s", 2), True),
        (report.at_most("a", np.float64("inf"), "s", 2), False),
        (report.below("a", np.float64(2), "s", 2), False),
        (report.at_least("a", np.float64(2), "s", 2), True),
        (report.within("a", np.float64(3), "s", 1, 2), False),
        (report.at_least("a", 1, "s", None), True),
    ],
)
def test_a_row_says_whether_its_bar_holds(
    row: report.Row, holds: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report.show([row], as_json=True) == (0 if holds else 1)
    assert json.loads(capsys.readouterr().out)[0]["holds"] is holds
