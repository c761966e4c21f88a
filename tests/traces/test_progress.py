"""How far a running job is: logs, tables, and what is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.core.errors import TraceError
from advisor.traces.progress import MOST_POINTS, read_progress

LINES = """
[2026-12-03 10:00:00,100] [INFO] step=100 loss=2.1
junk without a step 2026-12-03 10:00:05
 [2026-12-03 10:01:40] iteration      200/    5000 | consumed samples: 12800 |
2026-12-03T10:03:20.5 INFO global_step: 300
step 350 without a time
2026/12/03 10:05:00 Step 400: loss 1.9
"""


def test_lines_of_many_programs_are_points() -> None:
    progress = read_progress(LINES)
    assert progress.step.tolist() == [100, 200, 300, 400]
    assert progress.elapsed_s == pytest.approx([0.0, 99.9, 200.4, 299.9])
    assert progress.total_steps == 5000
    assert (progress.restarts, progress.workers_left, progress.steps_done) == (0, None, 400)


def test_work_done_again_is_a_restart_and_begins_a_session() -> None:
    text = "\n".join(
        f"2026-12-03 10:{minute:02d}:00 step {step}"
        for minute, step in enumerate([10, 20, 30, 20, 30, 40])
    )
    progress = read_progress(text)
    assert progress.restarts == 1
    assert progress.session().step.tolist() == [20, 30, 40]
    assert progress.session().elapsed_s.tolist() == [180, 240, 300]


def test_a_table_tells_workers_too() -> None:
    text = "step,elapsed_s,workers\n0,0,8\n100,10,8\n200,20,7\n300,31,7\n400,42,7\n"
    progress = read_progress(text.encode())
    assert progress.workers_left == 7
    assert progress.session().step.tolist() == [200, 300, 400]
    dated = "wall_time,step\n2026-12-03 10:00:00,1\n2026-12-03 10:00:10,2\n2026-12-03 10:01:00,3\n"
    assert read_progress(dated).elapsed_s.tolist() == [0, 10, 60]


def test_lines_of_several_processes_count_once() -> None:
    text = "\n".join(
        f"[rank{rank}] 2026-12-03 10:0{at}:0{rank} step {at * 10}"
        for at in range(4)
        for rank in range(3)
    )
    assert read_progress(text).step.tolist() == [0, 10, 20, 30]


def test_a_long_log_keeps_its_ends_and_its_restarts() -> None:
    steps = [*range(20_000), *range(15_000, 30_000)]
    text = "step,elapsed_s\n" + "\n".join(f"{step},{at}" for at, step in enumerate(steps))
    progress = read_progress(text)
    assert len(progress.step) <= MOST_POINTS + 4
    assert progress.restarts == 1
    assert progress.steps_done == 29_999
    assert progress.session().step[0] == 15_000


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "0 lines have a time and a step"),
        ("hello\nworld\n", "0 lines have"),
        ("2026-12-03 10:00:00 step 1\n", "1 line has"),
        ("2026-12-03 10:00:00 step 1\n" * 5, "its step never changes"),
        ("step,elapsed_s\n1,2\n2,x\n3,4\n", "row 3"),
        ("step,elapsed_s\n1,2\n2\n3,4\n", "row 3"),
        ("step,elapsed_s\n1,2\n2,nan\n3,4\n", "impossible"),
        ("step,elapsed_s\n-1,2\n2,3\n3,4\n", "impossible"),
        ("step,elapsed_s,workers\n1,2,-4\n2,3,1\n3,4,1\n", "impossible"),
        ("step,elapsed_s\n1,9\n2,5\n3,4\n", "times go back"),
    ],
)
def test_what_is_no_progress_says_so(text: str, match: str) -> None:
    with pytest.raises(TraceError, match=match) as caught:
        read_progress(text, "run.log")
    assert "run.log" in caught.value.where
    assert caught.value.todo


@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_anything_is_progress_or_a_clear_error(content: bytes) -> None:
    try:
        progress = read_progress(content)
    except TraceError:
        return
    assert (np.diff(progress.elapsed_s) >= 0).all()
    assert len(progress.step) >= 3


def test_a_line_of_spaces_after_its_step_takes_no_time() -> None:
    blank = f"2026-12-03 10:00:00 step{' ' * 3_900}x"
    assert read_progress(f"{blank}\n{LINES}").step.tolist() == [100, 200, 300, 400]
