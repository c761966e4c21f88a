"""The contract of an export: one plan as a file that another tool reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Literal, Protocol

from advisor.advice.launch import DEFAULT_COMMAND, Launch
from advisor.core.errors import InvalidInputError
from advisor.core.registry import Registry

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.domain import Proposal

Language = Literal["yaml", "bash", "hcl", "json", "csv"]
MEDIA_TYPES: Final[dict[Language, str]] = {
    "yaml": "application/yaml",
    "bash": "text/x-shellscript",
    "hcl": "text/plain",
    "json": "application/json",
    "csv": "text/csv",
}


class Exporter(Protocol):
    """A tool that can run a plan, or read it. One file each in `advisor.advice.exporters`."""

    label: ClassVar[str]  # as people call it
    use: ClassVar[str]  # the command that takes the file, {file} for its name
    suffix: ClassVar[str]  # end of the file's name
    language: ClassVar[Language]

    def refusal(self, launch: Launch) -> str:
        """Return why the tool cannot run this plan, or nothing."""

    def write(self, launch: Launch) -> str:
        """Return the text of the file; only called where nothing is refused."""


EXPORTERS: Final[Registry[type[Exporter]]] = Registry("export", "advisor.advice.exporters")


@dataclass(frozen=True, slots=True)
class Exported:
    """A plan as a file, and how it is used."""

    file_name: str
    text: str
    language: Language
    use: str

    @property
    def media_type(self) -> str:
        """The media type of the file."""
        return MEDIA_TYPES[self.language]


def launch_of(
    proposal: Proposal, catalog: Catalog, command: tuple[str, ...] = DEFAULT_COMMAND
) -> Launch:
    """Return what is exported of a plan.

    Parameters
    ----------
    command : tuple of str
        The training script and its arguments.
    """
    accelerator = proposal.plan.cluster.groups[0].accelerator
    known = accelerator in catalog.accelerators.index
    vendor = str(catalog.accelerators.loc[accelerator, "vendor"]) if known else ""
    return Launch(proposal, vendor, command)


def export(name: str, launch: Launch) -> Exported:
    """Write a plan for a tool.

    Raises
    ------
    UnknownNameError
        If no export is called so.
    InvalidInputError
        If the tool cannot run the plan; the message says why.
    """
    exporter = EXPORTERS[name]()
    refused = exporter.refusal(launch)
    if refused:
        raise InvalidInputError(
            refused, where=exporter.label, todo="Choose another export, or another plan."
        )
    file_name = f"{launch.name}.{exporter.suffix}"
    return Exported(
        file_name, exporter.write(launch), exporter.language, exporter.use.format(file=file_name)
    )


def possible(launch: Launch) -> dict[str, str]:
    """Return every export by name with the reason why it cannot take the plan, or nothing."""
    return {name: EXPORTERS[name]().refusal(launch) for name in EXPORTERS}


def by_reason(reasons: dict[str, str]) -> dict[str, list[str]]:
    """Return the refused exports under the reason that they share.

    >>> by_reason({"a": "no GPU", "b": "", "c": "no GPU"})
    {'no GPU': ['a', 'c']}
    """
    found: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        if reason:
            found.setdefault(reason, []).append(name)
    return found
