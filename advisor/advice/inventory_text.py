"""What machines are there, as a person writes it: ``2 x L4, A6000, P40``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from advisor.advice.machines import parse_machines
from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.domain.mixed import DeviceGroup, Inventory
from advisor.predictor.hardware import usual_link

if TYPE_CHECKING:
    from advisor.catalog import Catalog

MOST_KINDS: Final = 6
MOST_DEVICES: Final = 256
_ENTRY: Final = re.compile(r"^(?:([0-9]{1,6})\s*(?:[xX×*]\s*)?)?(?![0-9])(\S.*)$")


def parse_inventory(text: str, catalog: Catalog, network_bytes_per_s: float) -> Inventory:
    """Read accelerators or instance types with their counts, separated by commas or plus signs.

    Accelerators of one entry are taken to be in one machine; an instance type has the devices,
    links and network of the catalog.

    Parameters
    ----------
    network_bytes_per_s : float
        Network of a machine where the catalog knows none [bytes/s].

    Raises
    ------
    InvalidInputError
        If nothing is named, a kind is unknown or named twice, or there are too many; unknown names
        are all listed.
    """
    entries = [part.strip() for part in re.split(r"[,;+\n]|\band\b", text) if part.strip()]
    if not entries:
        raise InvalidInputError(
            "no machines are named.", where="inventory", todo="Write them: 2 x L4, A6000, P40."
        )
    groups, unknown = [], []
    for entry in entries:
        try:
            groups.append(_group(entry, catalog, network_bytes_per_s))
        except UnknownNameError as error:
            unknown.append(f"“{entry}”" + (f" ({error.todo})" if error.todo else ""))
    if unknown:
        raise InvalidInputError(
            f"unknown: {', '.join(unknown)}.",
            where="inventory",
            todo="Name accelerators or instance types of the catalog.",
        )
    _check(groups)
    return Inventory(groups=tuple(groups))


def _check(groups: list[DeviceGroup]) -> None:
    names = [group.name for group in groups]
    twice = sorted({name for name in names if names.count(name) > 1})
    devices = sum(group.accelerators for group in groups)
    if twice:
        raise InvalidInputError(
            f"{', '.join(twice)} is named twice.", where="inventory", todo="Add the counts up."
        )
    if len(groups) > MOST_KINDS or devices > MOST_DEVICES:
        raise InvalidInputError(
            f"{len(groups)} kinds and {devices:,} accelerators are too many to try all mixes of.",
            where="inventory",
            todo=f"Give up to {MOST_KINDS} kinds and {MOST_DEVICES} accelerators.",
        )


def _group(entry: str, catalog: Catalog, network_bytes_per_s: float) -> DeviceGroup:
    found = _ENTRY.match(entry)
    count, name = (int(found[1] or 1), found[2]) if found else (0, entry)
    if count < 1:
        raise InvalidInputError(
            f"“{entry}” is no number of machines.", where="inventory", todo="Write 2 x L4."
        )
    try:
        facts = catalog.accelerator(name)
    except UnknownNameError as error:
        try:
            return _machines(f"{count} x {name}", catalog, network_bytes_per_s)
        except UnknownNameError:
            raise error from None
    link = float(usual_link(catalog.accelerators.loc[[facts.name]])[0])
    return DeviceGroup(
        name=facts.name,
        accelerator=facts.name,
        machines=1,
        accelerators_per_machine=count,
        memory_bytes=facts.memory_bytes,
        link_bytes_per_s=link,
        network_bytes_per_s=network_bytes_per_s,
    )


def _machines(text: str, catalog: Catalog, network_bytes_per_s: float) -> DeviceGroup:
    count, machine = parse_machines(text, catalog)
    if machine.accelerators < 1:
        raise InvalidInputError(
            f"{machine.name} has a share of one {machine.accelerator}.",
            where="inventory",
            todo="Take a machine with whole accelerators.",
        )
    return DeviceGroup(
        name=machine.name,
        accelerator=machine.accelerator,
        machines=count,
        accelerators_per_machine=int(machine.accelerators),
        memory_bytes=machine.accelerator_memory_bytes,
        link_bytes_per_s=machine.link_bytes_per_s,
        network_bytes_per_s=machine.network_bytes_per_s or network_bytes_per_s,
    )
