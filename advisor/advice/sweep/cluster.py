"""Where a sweep runs: processes of this machine, or the workers of a scheduler."""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from distributed import Client, LocalCluster

from advisor.core.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator

CONNECT_S: Final = 15
# Workers share the machine: numerical libraries inside one of them take one core.
ONE_CORE: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
                   "LOKY_MAX_CPU_COUNT": "1"}  # fmt: skip


@contextmanager
def client_of(scheduler: str | None, workers: int | None, most: int) -> Iterator[Client]:
    """Connect to the scheduler, or start processes on this machine for as long as it takes.

    Parameters
    ----------
    workers : int or None
        Processes of this machine, one for each core by default, but not more than `most`.

    Raises
    ------
    InvalidInputError
        If the scheduler does not answer or has no workers.
    """
    _quiet()
    if scheduler is not None:
        with _connected(scheduler) as client:
            yield client
        return
    count = min(workers or os.cpu_count() or 1, most)
    with (
        LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL, env=ONE_CORE,
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        yield client


def _quiet() -> None:
    """Keep the library's own account of its workers to itself: what fails is said by the sweep."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    try:
        client = Client(scheduler, timeout=CONNECT_S)
    except (OSError, ValueError, TimeoutError) as error:
        raise InvalidInputError(
            f"no scheduler answers ({type(error).__name__}).", where=scheduler,
            todo="Give its address as “dask scheduler” prints it: tcp://host:8786.",
        ) from None  # fmt: skip
    with client:
        if not client.scheduler_info()["workers"]:
            raise InvalidInputError(
                "the scheduler has no workers.", where=scheduler,
                todo="Start some: dask worker ADDRESS --nthreads 1.",
            )  # fmt: skip
        yield client
