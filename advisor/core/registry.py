"""A plug-in is one file: registered by a decorator, discovered by walking its package."""

from __future__ import annotations

import importlib
import pkgutil
import threading
from typing import TYPE_CHECKING, Generic, TypeVar

from advisor.core.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")


class Registry(Generic[T]):
    """Named plug-ins of one kind, found in one package.

    Parameters
    ----------
    kind : str
        What a plug-in is called in messages, for example ``"price provider"``.
    package : str
        Dotted name of the package whose modules hold the plug-ins.
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self._package = package
        self._items: dict[str, T] = {}
        self._lock = threading.RLock()
        self._walking = False
        self._walked = False

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that adds the decorated object under `name`."""

        def add(item: T) -> T:
            if name in self._items:
                raise ValueError(f"two {self.kind}s are called {name!r}")
            self._items[name] = item
            return item

        return add

    def __getitem__(self, name: str) -> T:
        self._walk()
        try:
            return self._items[name]
        except KeyError:
            raise UnknownNameError(self.kind, name, self._items) from None

    def __iter__(self) -> Iterator[str]:
        self._walk()
        return iter(sorted(self._items))

    def __len__(self) -> int:
        self._walk()
        return len(self._items)

    def _walk(self) -> None:
        if self._walked:
            return
        with self._lock:  # another thread may not see a part of the plug-ins
            if self._walked or self._walking:
                return
            self._walking = True  # a plug-in may ask the registry while it is imported
            try:
                package = importlib.import_module(self._package)
                for module in pkgutil.iter_modules(package.__path__):
                    importlib.import_module(f"{self._package}.{module.name}")
                self._walked = True  # one that cannot be imported is said again, not forgotten
            finally:
                self._walking = False
