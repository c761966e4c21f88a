"""Processes and threads that use one store at the same time, for tests."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from advisor.store import Store
from advisor.testing.store_plans import WORKLOAD, plan
from advisor.testing.store_runs import run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from threading import Barrier


def in_processes(count: int, work: Callable[..., None], *args: Any) -> None:
    """Run `work(*args, number, barrier)` in fresh processes and see that all succeed."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(count)
    processes = [
        context.Process(target=work, args=(*args, number, barrier)) for number in range(count)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=60)
    codes = [process.exitcode for process in processes]
    for process in processes:
        process.kill()
        process.join()
        process.close()
    assert codes == [0] * count


def open_and_add(urls: Sequence[str], number: int, barrier: Barrier) -> None:
    """Open databases at the same moment as other processes, and add a run to each."""
    for url in urls:
        barrier.wait(timeout=20)
        with Store.open(url) as store:
            store.add([run(number)])


def add_in_threads(url: str, number: int, barrier: Barrier) -> None:
    """Add runs from eight threads, some that everyone adds, some of the thread's own, and plans."""
    with Store.open(url) as store, ThreadPoolExecutor(8) as pool:
        barrier.wait(timeout=20)

        def add(thread: int) -> None:
            own = 1000 * (1 + 8 * number + thread)
            for start in range(0, 20, 5):
                store.add(run(i) for i in range(start, start + 5))
                store.add(run(own + i) for i in range(start, start + 5))
                saved = store.save_plan(plan(), WORKLOAD, name=f"{number} {thread} {start}")
                store.finish_plan(saved.id, hours=1 + start)

        list(pool.map(add, range(8)))
