"""dstack: a distributed task in YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from advisor.advice.exporter import EXPORTERS, Language
from advisor.advice.yaml_text import yaml_text

if TYPE_CHECKING:
    from advisor.advice.launch import Launch

BACKENDS: Final = ("aws", "gcp", "azure")


@EXPORTERS.register("dstack")
class Dstack:
    """A task for ``dstack apply``; its machines are asked for by their own names."""

    label: ClassVar[str] = "dstack"
    use: ClassVar[str] = "dstack apply -f {file}"
    suffix: ClassVar[str] = "dstack.yml"
    language: ClassVar[Language] = "yaml"

    def refusal(self, launch: Launch) -> str:
        """Return why dstack cannot run the plan, or nothing."""
        group = launch.group
        if group.cloud not in BACKENDS:
            return f"The machines of {group.cloud} have other names in dstack than in our lists."
        if "+" in group.instance_type:
            return f"{group.instance_type} is a host with attached GPUs, unnamed in dstack."
        if group.accelerators_per_node < 1:
            return f"{group.instance_type} has a share of a GPU, which dstack does not count."
        return launch.no_gpu()

    def write(self, launch: Launch) -> str:
        """Return the task."""
        group = launch.group
        run = launch.torchrun(rank='"$DSTACK_NODE_RANK"', head='"$DSTACK_MASTER_NODE_IP"')
        task = {
            "type": "task",
            "name": launch.name,
            "nodes": launch.nodes,
            "python": "3.12",
            "env": launch.environment,
            "commands": [run],
            "backends": [group.cloud],
            "regions": [group.region],
            "instance_types": [group.instance_type],
            "spot_policy": "spot" if launch.is_spot else "on-demand",
            "resources": {"gpu": {"count": int(group.accelerators_per_node)}},
        }
        return yaml_text(launch.headline, task)
