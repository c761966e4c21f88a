"""How many threads the numerical libraries may use."""

from __future__ import annotations

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]


def one_thread() -> threadpool_limits:
    """Keep the libraries on one thread, inside a ``with`` block.

    Trees and tables are small: threads wait for each other at every split, which on two idle
    cores gains nothing and on busy ones makes a fit of one second take thirty.
    """
    return threadpool_limits(limits=1)
