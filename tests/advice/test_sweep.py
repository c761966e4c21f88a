"""Sweeps: tables read, answers made, nothing lost and nothing twice when workers die."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import cloudpickle
import pandas as pd
import pytest
import sweep_work

from advisor.advice import Engine
from advisor.advice.sweep import Progress, Task, read_tasks, run, sweep
from advisor.advice.sweep.results import Parts
from advisor.advice.sweep.task import answer, stamp_of, work
from advisor.core.errors import InvalidInputError, UnknownNameError

TABLE = """name,job,model,epochs,global_batch,deadline_h,clouds
first,ResNet-50 · 2 epochs · batch 256,,,,,aws
second,,resnet-50,2,256,,aws
,lama-2-7 · 10 B tokens,,,,,
third,ResNet-50 · 2 epochs · batch 256,,,,0.0001,aws

fourth,,resnet-50,,256,,
fifth,ResNet-50 · 2 epochs,resnet-50,,,,
sixth,ResNet-50 · 2 epochs,,,,,aws,more
seventh,ResNet-50 · 2 epochs,,,,soon,
"""


def written(tmp_path: Path, text: str, name: str = "jobs.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_becomes_tasks_with_their_lines(tmp_path: Path) -> None:
    tasks = read_tasks(written(tmp_path, "\ufeff" + TABLE))
    assert [task.line for task in tasks] == [2, 3, 4, 5, 7, 8, 9, 10]
    assert tasks[1].fields == {"name": "second", "model": "resnet-50", "epochs": "2",
                               "global_batch": "256", "clouds": "aws"}  # fmt: skip
    assert len({task.key("stamp") for task in tasks}) == len(tasks)
    assert tasks[0].key("stamp") != tasks[0].key("other prices")


def test_every_job_is_asked_in_every_scenario(tmp_path: Path) -> None:
    scenarios = written(tmp_path, "scenario,Deadline H\nslow,\nfast,3\n", "scenarios.csv")
    (task, *_) = read_tasks(written(tmp_path, TABLE), scenarios)
    assert task.scenarios == (("slow", {}), ("fast", {"deadline_h": "3"}))


@pytest.mark.parametrize(
    ("jobs", "scenarios", "says"),
    [
        ("", None, "no rows"),
        ("job\n", None, "no rows"),
        ("job,colour\na,b\n", None, "unknown column “colour”"),
        ("job,job\na,b\n", None, "twice"),
        ("job\n" + "x" * 200_000 + "\n", None, "no CSV"),
        ("job\na\n", "scenario\n", "no rows"),
        ("job\na\n", "scenario,clouds\n,aws\n", "line 2: a scenario has no name"),
        ("job\na\n", "scenario\na\na\n", "line 3: two scenarios"),
        ("job\n" + "a\n" * 2000, "scenario\n" + "\n".join(map(str, range(101))), "more than"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(
    tmp_path: Path, jobs: str, scenarios: str | None, says: str
) -> None:
    beside = None if scenarios is None else written(tmp_path, scenarios, "scenarios.csv")
    with pytest.raises(InvalidInputError, match=says):
        read_tasks(written(tmp_path, jobs), beside)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_bytes(b"job\n\xff\xfe")
    with pytest.raises(InvalidInputError, match="UTF-8"):
        read_tasks(tmp_path / "jobs.csv")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_tasks(tmp_path)
    with pytest.raises(UnknownNameError, match="global_batch"):
        read_tasks(written(tmp_path, "model,global_batsh\n"))


def test_bad_lines_say_why_and_the_others_are_answered(tmp_path: Path, engine: Engine) -> None:
    rows = [row for task in read_tasks(written(tmp_path, TABLE)) for row in answer(task, engine)]
    by_line = pd.DataFrame(rows).groupby("line")
    status = by_line["status"].first().to_dict()
    assert status == {2: "done", 3: "done", 4: "bad input", 5: "no plan", 7: "bad input",
                      8: "bad input", 9: "bad input", 10: "bad input"}  # fmt: skip
    why = by_line["error"].first().to_dict()
    for line, says in ((4, "unknown model"), (5, "deadline"), (7, "one amount"),
                       (8, "says it all"), (9, "more cells"), (10, "soon")):  # fmt: skip
        assert says in why[line]
    kept = ["pick", "plan_id", "cost_usd", "hours"]
    same = [by_line.get_group(line)[kept].reset_index(drop=True) for line in (2, 3)]
    assert same[0].equals(same[1])  # the same job in one line of text and in columns
    assert set(" ".join(same[0]["pick"]).split()) == {"cheapest", "fastest", "best_value", "safest"}


def test_a_worker_with_other_prices_is_refused(
    engine: Engine, engine_data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.advice.sweep.task._engine", lambda: engine)
    task = Task(2, {"job": "ResNet-50 · 1 epochs", "clouds": "aws"}, (("", {}),))
    assert work(task, stamp_of(engine)) == answer(task, engine)
    with pytest.raises(InvalidInputError, match="other prices"):
        work(task, "another stamp")


Swept = Callable[..., pd.DataFrame]


@pytest.fixture
def swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Swept]:
    """Sweep with light work in two real processes."""
    cloudpickle.register_pickle_by_value(sys.modules["sweep_work"])
    monkeypatch.setattr(run, "work", sweep_work.told_work)
    monkeypatch.setattr(run, "stamp_of", lambda _: str(tmp_path))

    def start(names: list[str], **options: object) -> pd.DataFrame:
        jobs = written(tmp_path, "job\n" + "\n".join(names) + "\n")
        return sweep(jobs, tmp_path / "out.parquet", engine=object(), **{"workers": 2} | options)  # type: ignore[arg-type]  # never asked

    yield start
    cloudpickle.unregister_pickle_by_value(sys.modules["sweep_work"])


def taken(folder: Path) -> dict[int, int]:
    """Return how often each line was taken by a worker."""
    return {int(path.stem): len(path.read_text().split()) for path in folder.glob("*.taken")}


def test_stopped_and_with_a_killed_worker_nothing_is_lost_and_nothing_is_there_twice(
    swept: Swept, tmp_path: Path
) -> None:
    """Starts processes twice and kills one of them in its work: it takes some seconds."""
    names = [f"job {i}" for i in range(12)]
    names[8], names[11] = "broken", "deadly"

    class StopError(Exception):
        pass

    def stop(now: Progress) -> None:
        if now.done == 4:
            raise StopError

    with pytest.raises(StopError):
        swept(names, progress=stop, workers=1)
    kept = len(list(Parts(tmp_path / "out.parquet").folder.iterdir()))
    assert 4 <= kept < 12
    seen: list[Progress] = []
    frame = swept(names, progress=seen.append)
    assert seen[0] == Progress(12, kept, kept)
    assert [now.done for now in seen] == list(range(kept, 13))
    assert (tmp_path / "died").exists()
    assert frame["line"].tolist() == list(range(2, 14))
    assert frame["job"].tolist() == names
    status = dict(zip(names, frame["status"], strict=True))
    assert status.pop("broken") == "failed"
    assert set(status.values()) == {"done"}
    assert taken(tmp_path)[13] >= 2  # the deadly one went to another worker
    assert pd.read_parquet(tmp_path / "out.parquet").equals(frame)
    assert not Parts(tmp_path / "out.parquet").folder.exists()


def test_a_scheduler_that_does_not_answer_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "stamp_of", lambda _: "stamp")
    monkeypatch.setattr("advisor.advice.sweep.cluster.CONNECT_S", 0.2)
    jobs = written(tmp_path, "job\na\n")
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with pytest.raises(InvalidInputError, match="no scheduler answers"):
            sweep(jobs, tmp_path / "o", scheduler=address, engine=object())  # type: ignore[arg-type]  # never asked


def test_a_place_that_holds_no_file_is_refused_first(tmp_path: Path) -> None:
    for output in (tmp_path, tmp_path / "no" / "out.parquet"):
        with pytest.raises(InvalidInputError, match="no file can be written"):
            sweep(tmp_path / "nothing.csv", output)
