"""Options of connections that both kinds of database read."""

from __future__ import annotations

from typing import Final

WRITE: Final = "advisor_write"
"""Announces, when a transaction begins, that it will write."""
