"""SkyPilot: a task in YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from advisor.advice.exporter import EXPORTERS, Language
from advisor.advice.yaml_text import yaml_text

if TYPE_CHECKING:
    from advisor.advice.launch import Launch

CLOUDS: Final = ("aws", "gcp", "azure")
# GCP attaches accelerators to hosts, so SkyPilot wants them named, by its own names.
GCP_NAMES: Final = {
    "A100-40GB": "A100", "A100-80GB": "A100-80GB", "H100": "H100", "H200": "H200", "B200": "B200",
    "L4": "L4", "T4": "T4", "V100-16GB": "V100", "P100-PCIe-16GB": "P100", "P4": "P4",
}  # fmt: skip
GCP_MACHINE_NAMES: Final = {"a3-megagpu-8g": "H100-MEGA"}


@EXPORTERS.register("skypilot")
class SkyPilot:
    """A task for ``sky launch``; spot machines belong to a managed job that recovers."""

    label: ClassVar[str] = "SkyPilot"
    use: ClassVar[str] = "sky launch {file}, or for spot machines: sky jobs launch {file}"
    suffix: ClassVar[str] = "sky.yaml"
    language: ClassVar[Language] = "yaml"

    def refusal(self, launch: Launch) -> str:
        """Return why SkyPilot cannot run the plan, or nothing."""
        group = launch.group
        if group.cloud not in CLOUDS:
            return f"The machines of {group.cloud} have other names in SkyPilot than in our lists."
        if group.accelerators_per_node < 1:
            return f"{group.instance_type} has a share of a GPU, which SkyPilot does not count."
        if group.cloud == "gcp" and not _gcp_name(launch):
            return f"SkyPilot's name of {group.accelerator} on GCP is not known here."
        return launch.no_gpu()

    def write(self, launch: Launch) -> str:
        """Return the task."""
        group = launch.group
        resources: dict[str, Any] = {
            "infra": f"{group.cloud}/{group.region}",
            "instance_type": group.instance_type.partition("+")[0],
            "use_spot": launch.is_spot,
            "labels": {"advisor-plan": launch.plan.id},
        }
        if group.cloud == "gcp":
            resources["accelerators"] = {_gcp_name(launch): int(group.accelerators_per_node)}
        head = '"$(echo "$SKYPILOT_NODE_IPS" | head -n1)"'
        task = {
            "name": launch.name,
            "num_nodes": launch.nodes,
            "resources": resources,
            "workdir": ".",
            "envs": launch.environment,
            "run": launch.torchrun(rank='"$SKYPILOT_NODE_RANK"', head=head) + "\n",
        }
        return yaml_text(launch.headline, task)


def _gcp_name(launch: Launch) -> str:
    group = launch.group
    return GCP_MACHINE_NAMES.get(group.instance_type, GCP_NAMES.get(group.accelerator, ""))
