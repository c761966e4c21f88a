"""A sweep on Dask: tasks go out to workers, answers come back once each, and are kept at once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from distributed import as_completed

from advisor.advice.engine import Engine
from advisor.advice.sweep.cluster import client_of
from advisor.advice.sweep.results import Parts, frame_of
from advisor.advice.sweep.table import Task, read_tasks
from advisor.advice.sweep.task import failure, stamp_of, work
from advisor.core.errors import AdvisorError, InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd
    from distributed import Client, Future

# Tasks that wait at the scheduler for each worker: enough that none is idle, few to keep in mind.
AHEAD: Final = 8


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sweep is: tasks in all, answered, and how many of them an earlier run had."""

    total: int
    done: int
    resumed: int


def sweep(
    jobs: str | Path,
    output: str | Path,
    *,
    scenarios: str | Path | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> pd.DataFrame:
    """Answer many jobs in many scenarios and write the picks as one table.

    A worker that dies loses nothing: its task goes to another. A sweep that is stopped goes on
    where it was when it is started again with the same files.

    Parameters
    ----------
    jobs, scenarios : path
        CSV tables, as `read_tasks` reads them.
    output : path
        The Parquet file; while the sweep runs, answers lie in a directory beside it.
    scheduler : str, optional
        Address of a Dask scheduler (``tcp://host:8786``); by default processes of this machine.
    workers : int, optional
        How many processes of this machine; by default one for each core.
    engine : Engine, optional
        Catalog and predictor that the workers must have too; opened where not given.
    progress : callable, optional
        Called with a `Progress` at the start and after every answer.

    Returns
    -------
    DataFrame
        One row per job, scenario and picked plan; ``line`` and ``status`` (done, no plan, bad
        input, failed) with its ``error``, then the columns of ``advise --csv``.

    Raises
    ------
    InvalidInputError
        If a table cannot be read, the output not be written, or the scheduler not be reached.
    """
    parts = Parts(Path(output))
    if parts.output.is_dir() or not parts.output.parent.is_dir():
        raise InvalidInputError(
            "no file can be written there.", where=str(output), todo="Give another path."
        )
    tasks = read_tasks(Path(jobs), None if scenarios is None else Path(scenarios))
    stamp = stamp_of(engine or Engine.open())
    keys = {task.key(stamp): task for task in tasks}
    kept = parts.open() & set(keys)
    waiting = [key for key in keys if key not in kept]
    say = progress or _silent
    say(Progress(len(keys), len(kept), len(kept)))
    failed: dict[str, str] = {}
    if waiting:
        with client_of(scheduler, workers, len(waiting)) as client:
            for count, (key, why) in enumerate(_answers(client, keys, waiting, stamp, parts)):
                if why:
                    failed[key] = why
                say(Progress(len(keys), len(kept) + count + 1, len(kept)))
    answers = (
        failure(task, failed[key]) if key in failed else parts.read(key)
        for key, task in keys.items()
    )  # fmt: skip
    frame = frame_of(row for rows in answers for row in rows)
    parts.finish(frame)
    return frame


def _silent(progress: Progress) -> None:
    """Say nothing."""


def _answers(
    client: Client, keys: dict[str, Task], waiting: list[str], stamp: str, parts: Parts
) -> Iterator[tuple[str, str]]:
    """Yield each key once, its answer being kept, with why there is none or nothing."""
    queue = iter(waiting)

    def send(count: int) -> list[Future[Any]]:
        # A name of the task's own: the scheduler knows it, and runs it once however often it asks.
        return [client.submit(work, keys[key], stamp, key=f"sweep-{key}", pure=False)
                for key in islice(queue, count)]  # fmt: skip

    running = as_completed(send(AHEAD * max(1, len(client.scheduler_info()["workers"]))))
    for future in running:
        key = future.key.removeprefix("sweep-")
        error = future.exception()
        if isinstance(error, AdvisorError):
            raise error
        if error is None:
            parts.write(key, future.result())
        future.release()
        for other in send(1):
            running.add(other)
        yield key, "" if error is None else _why(error)


def _why(error: BaseException) -> str:
    if type(error).__name__ == "KilledWorker":
        return "every worker that took it died, likely for want of memory"
    return f"{type(error).__name__} in a worker"
