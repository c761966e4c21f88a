"""The engine of this process: the catalog, the store and the predictor, opened once."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from advisor.advice.engine import Engine
from advisor.catalog import load
from advisor.core.paths import data_dir

if TYPE_CHECKING:
    from advisor.catalog import Catalog

logger = logging.getLogger(__name__)
_opened: Final[dict[Path, Engine]] = {}
_opening: Final = threading.Lock()


def catalog_of(engine: Engine | None) -> Catalog:
    """Return the catalog to read names by; training is not waited for before errors are said."""
    return load() if engine is None else engine.catalog


def engine_of(given: Engine | None, catalog: Catalog) -> Engine:
    """Return the engine given, or that of this process.

    Changed prices open it again, which trains nothing.
    """
    if given is not None:
        return given
    directory = data_dir()
    with _opening:
        opened = _opened.get(directory)
        if opened is None or opened.catalog.hash != catalog.hash:
            for note in catalog.notes:
                logger.warning("%s", note)
            opened = _opened[directory] = Engine.open(catalog)
        return opened
