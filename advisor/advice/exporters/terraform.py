"""Terraform: the machines on AWS, GCP or Azure, and the command to start on each."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from advisor.advice.exporter import EXPORTERS, Language
from advisor.advice.quoting import comments, hcl

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.advice.launch import Launch


@EXPORTERS.register("terraform")
class Terraform:
    """Machines, with image, network and key as variables; nothing of them is guessed."""

    label: ClassVar[str] = "Terraform"
    use: ClassVar[str] = "terraform init && terraform apply, in a folder with {file}"
    suffix: ClassVar[str] = "tf"
    language: ClassVar[Language] = "hcl"

    def refusal(self, launch: Launch) -> str:
        """Return why Terraform's providers do not know the machines, or nothing."""
        if launch.group.cloud not in MACHINES:
            return f"Machines of {launch.group.cloud}: only those of {', '.join(MACHINES)}."
        # On AWS machines of any accelerator are instances; elsewhere some are another resource.
        return "" if launch.group.cloud == "aws" else launch.no_gpu()

    def write(self, launch: Launch) -> str:
        """Return the configuration."""
        cloud = launch.group.cloud
        run = launch.torchrun(rank="$NODE_RANK", head="$MASTER_ADDR")
        environment = " ".join(f"{name}={value}" for name, value in launch.environment.items())
        start = _output("command", hcl(run), "Start it on every machine: NODE_RANK counts from 0, "
                        "MASTER_ADDR is the first address.")  # fmt: skip
        return (
            comments([*launch.headline, *launch.start_note]) + "\n" + MACHINES[cloud](launch)
            + _output("addresses", f"{NAMES[cloud]}.training[*].{ADDRESSES[cloud]}")
            + ("" if launch.no_gpu() else start)
            + _output("environment", hcl(environment))
        )  # fmt: skip


def _output(name: str, value: str, description: str = "") -> str:
    said = f"  description = {hcl(description)}\n" if description else ""
    return f'\noutput "{name}" {{\n{said}  value = {value}\n}}\n'


def _variables(*names: str) -> str:
    return "".join(f'\nvariable "{name}" {{\n  type = string\n}}\n' for name in names)


def _provider(name: str, source: str, *lines: str) -> str:
    body = "".join(f"  {line}\n" for line in lines)
    return (
        f"terraform {{\n  required_providers {{\n    {name} = {{\n"
        f'      source = "{source}"\n    }}\n  }}\n}}\n\nprovider "{name}" {{\n{body}}}\n'
    )


def _aws(launch: Launch) -> str:
    group, plan = launch.group, hcl(launch.plan.id)
    spot = '\n  instance_market_options {\n    market_type = "spot"\n  }\n'
    placed = (
        f'\nresource "aws_placement_group" "training" {{\n  name     = {hcl(launch.name)}\n'
        f'  strategy = "cluster"\n}}\n'
    )
    several = launch.nodes > 1
    return (
        _provider("aws", "hashicorp/aws", f"region = {hcl(group.region)}")
        + _variables("image_id", "subnet_id", "key_name")
        + (placed if several else "")
        + f'\nresource "aws_instance" "training" {{\n  count           = {launch.nodes}\n'
        f"  instance_type   = {hcl(group.instance_type)}\n  ami             = var.image_id\n"
        f"  subnet_id       = var.subnet_id\n  key_name        = var.key_name\n"
        + ("  placement_group = aws_placement_group.training.name\n" if several else "")
        + (spot if launch.is_spot else "")
        + f'\n  tags = {{\n    Name           = "{launch.name}-${{count.index}}"\n'
        f"    advisor-plan = {plan}\n  }}\n}}\n"
    )  # fmt: skip


def _gcp(launch: Launch) -> str:
    group = launch.group
    machine, _, attached = group.instance_type.partition("+")
    count, _, kind = attached.partition("x")
    guests = (
        f"\n  guest_accelerator {{\n    type  = {hcl(f'nvidia-tesla-{kind.lower()}')}\n"
        f"    count = {int(count)}\n  }}\n"
        if attached
        else ""
    )
    spot = '    provisioning_model          = "SPOT"\n    preemptible                 = true\n'
    return (
        _provider("google", "hashicorp/google", "project = var.project",
                  f"region  = {hcl(group.region)}")
        + _variables("project", "zone", "image", "subnetwork")
        + f'\nresource "google_compute_instance" "training" {{\n  count        = {launch.nodes}\n'
        f'  name         = "{launch.name}-${{count.index}}"\n'
        f"  machine_type = {hcl(machine)}\n  zone         = var.zone\n"
        f"\n  boot_disk {{\n    initialize_params {{\n      image = var.image\n    }}\n  }}\n"
        f"\n  network_interface {{\n    subnetwork = var.subnetwork\n  }}\n{guests}"
        f'\n  scheduling {{\n    on_host_maintenance         = "TERMINATE"\n'
        f"    automatic_restart           = false\n{spot if launch.is_spot else ''}  }}\n"
        f"\n  labels = {{\n    advisor-plan = {hcl(launch.plan.id)}\n  }}\n}}\n"
    )  # fmt: skip


def _azure(launch: Launch) -> str:
    group, tags = launch.group, f"  tags = {{\n    advisor-plan = {hcl(launch.plan.id)}\n  }}\n"
    place = (
        f"  resource_group_name = var.resource_group\n  location            = {hcl(group.region)}\n"
    )
    spot = '  priority            = "Spot"\n  eviction_policy     = "Delete"\n'
    return (
        _provider("azurerm", "hashicorp/azurerm", "features {}")
        + _variables("resource_group", "subnet_id", "public_key")
        + f'\nresource "azurerm_network_interface" "training" {{\n  count               = '
        f'{launch.nodes}\n  name                = "{launch.name}-${{count.index}}"\n{place}'
        f'\n  ip_configuration {{\n    name                          = "internal"\n'
        f"    subnet_id                     = var.subnet_id\n"
        f'    private_ip_address_allocation = "Dynamic"\n  }}\n}}\n'
        f'\nresource "azurerm_linux_virtual_machine" "training" {{\n  count               = '
        f'{launch.nodes}\n  name                = "{launch.name}-${{count.index}}"\n{place}'
        f"  size                = {hcl(group.instance_type)}\n"
        f'  admin_username      = "training"\n{spot if launch.is_spot else ""}'
        f"\n  network_interface_ids = [\n"
        f"    azurerm_network_interface.training[count.index].id,\n  ]\n"
        f'\n  admin_ssh_key {{\n    username   = "training"\n'
        f"    public_key = var.public_key\n  }}\n"
        f'\n  os_disk {{\n    caching              = "ReadWrite"\n'
        f'    storage_account_type = "Premium_LRS"\n  }}\n'
        f'\n  source_image_reference {{\n    publisher = "microsoft-dsvm"\n'
        f'    offer     = "ubuntu-hpc"\n    sku       = "2204"\n    version   = "latest"\n  }}\n'
        f"\n{tags}}}\n"
    )  # fmt: skip


MACHINES: Final[dict[str, Callable[[Launch], str]]] = {"aws": _aws, "gcp": _gcp, "azure": _azure}
NAMES: Final = {
    "aws": "aws_instance",
    "gcp": "google_compute_instance",
    "azure": "azurerm_linux_virtual_machine",
}
ADDRESSES: Final = {
    "aws": "private_ip",
    "gcp": "network_interface[0].network_ip",
    "azure": "private_ip_address",
}
