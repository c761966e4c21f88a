"""The link between the accelerators of an own machine, from what the accelerator has."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from advisor.core.errors import InvalidInputError
from advisor.core.units import GB

if TYPE_CHECKING:
    import pandas as pd

# Three quarters of the 16 lanes' rate, as for the machines of the catalog without measurement.
PCIE_BYTES_PER_S: Final = {3: 12 * GB, 4: 24 * GB, 5: 48 * GB}
USUAL_PCIE: Final = 4
_PCIE: Final = re.compile(r"(?:pcie|pciexpress)(?:gen)?([3-9]?)(?:x16|0x16|0)?")
BRIDGE: Final = "bridge"  # joins pairs only: a ring over all cards crosses the bus


def link_of(facts: pd.DataFrame, accelerator: str, wanted: str) -> tuple[str, float]:
    """Return name and bandwidth of the link between accelerators of one machine.

    Parameters
    ----------
    facts : DataFrame
        Columns link, link_bytes_per_s and pcie_gen, indexed by accelerator.
    accelerator : str
        Canonical name.
    wanted : str
        What the user wrote: PCIe, with the host's generation where it is older than the card's;
        the name of the accelerator's link (its version may be left out); or nothing for the
        accelerator's own link; a bridge has to be named.

    Returns
    -------
    name : str
    bandwidth : float
        Per device, one direction [bytes/s].

    Raises
    ------
    InvalidInputError
        If the accelerator has no such link.
    """
    fact = facts.loc[[accelerator]].iloc[0]
    own, speed = str(fact["link"]), float(fact["link_bytes_per_s"])
    has_own = own != "none" and not math.isnan(speed)
    given = _folded(wanted)
    meant = _folded(own).startswith(given) if given else BRIDGE not in own
    understood = bool(given) or not wanted.strip()
    if has_own and meant and understood:
        return own, speed
    generation = USUAL_PCIE if math.isnan(fact["pcie_gen"]) else int(fact["pcie_gen"])
    bus = _PCIE.fullmatch(given)
    if bus and bus[1]:
        generation = min(generation, int(bus[1]))  # the slower end decides
    if understood and (not given or bus):
        return f"PCIe {generation}", PCIE_BYTES_PER_S[generation]
    raise InvalidInputError(
        f"{accelerator} has no link “{wanted}”.",
        todo=f"Write {own} or PCIe, or leave it empty."
        if has_own
        else "Write PCIe, or leave it empty.",
    )


def _folded(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.casefold())
