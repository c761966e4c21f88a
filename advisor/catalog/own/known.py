"""What the user's lists may name: accelerators and clouds of the shipped tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from advisor.catalog.names import lookup_table, spelled
from advisor.catalog.providers.snapshot import SnapshotProvider
from advisor.core.errors import UnknownNameError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Known:
    """Names a list may use.

    Parameters
    ----------
    accelerators : DataFrame
        Facts by canonical name, as in `CatalogTables.accelerators`.
    spellings : dict
        Every known spelling to its canonical name.
    clouds : tuple of str
        Clouds with prices.
    machines : tuple of (cloud, instance type)
        Machines of all of them.
    """

    accelerators: pd.DataFrame
    spellings: dict[str, str]
    clouds: tuple[str, ...]
    machines: tuple[tuple[str, str], ...]

    def accelerator(self, name: str) -> str:
        """Return the canonical name of an accelerator.

        Raises
        ------
        UnknownNameError
            If there is none; offers the nearest. The same holds for `cloud`.
        """
        found = self.spellings.get(spelled(name))
        if found is None:
            raise UnknownNameError("accelerator", name, self.accelerators.index)
        return found

    def cloud(self, name: str) -> str:
        """Return the name of a cloud, in its own case."""
        found = next((cloud for cloud in self.clouds if cloud == name.casefold()), None)
        if found is None:
            raise UnknownNameError("cloud", name, self.clouds)
        return found

    def instance_type(self, name: str) -> str:
        """Return the name of a machine, in its own case."""
        folded = name.casefold()
        found = next((one for _, one in self.machines if one.casefold() == folded), None)
        if found is None:
            raise UnknownNameError("instance type", name, sorted({one for _, one in self.machines}))
        return found


@lru_cache(maxsize=1)
def known() -> Known:
    """Return the names of the shipped tables, read once: they do not change while we run."""
    accelerators, aliases, machines = SnapshotProvider().names()
    pairs = zip(aliases["alias"], aliases["name"], strict=True)
    return Known(
        accelerators,
        lookup_table(accelerators.index, pairs),
        tuple(sorted({str(cloud) for cloud in machines["cloud"]})),
        tuple(sorted(set(machines.astype(str).itertuples(index=False, name=None)))),
    )
