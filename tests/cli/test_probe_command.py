"""The command ``probe`` writes the script that measures a job."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from command_line import run_fixture  # noqa: F401 - fixture

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command_line import Ran


def test_it_writes_a_script_with_the_steps_asked_for(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    script = tmp_path / "measure.py"
    ran = run("probe", str(script), "--steps", "7")
    assert (ran.code, ran.err) == (0, "")
    text = script.read_text()
    ast.parse(text)
    assert "STEPS = 10, 5, 7" in text


def test_impossible_steps_and_places_are_refused_with_what_to_do(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    assert run("probe", str(tmp_path / "a.py"), "--steps", "1").code == 2
    assert run("probe", str(tmp_path / "none" / "a.py")).code == 2
    assert list(tmp_path.iterdir()) == []
