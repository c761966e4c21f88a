"""The AWS command line: start the machines, wait, say what to run on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from advisor.advice.exporter import EXPORTERS, Language
from advisor.advice.quoting import comments, shell

if TYPE_CHECKING:
    from advisor.advice.launch import Launch


@EXPORTERS.register("aws_cli")
class AwsCli:
    """A script; image, network and key come from the environment."""

    label: ClassVar[str] = "AWS CLI"
    use: ClassVar[str] = "IMAGE_ID=ami-… SUBNET_ID=subnet-… KEY_NAME=… bash {file}"
    suffix: ClassVar[str] = "aws.sh"
    language: ClassVar[Language] = "bash"

    def refusal(self, launch: Launch) -> str:
        """Return why AWS does not have the machines, or nothing."""
        if launch.group.cloud != "aws":
            return f"The machines are of {launch.group.cloud}, not of AWS."
        return ""

    def write(self, launch: Launch) -> str:
        """Return the script."""
        group = launch.group
        region = shell(["--region", group.region])
        tags = (f"{{Key=Name,Value={launch.name}}}", f"{{Key=advisor-plan,Value={launch.plan.id}}}")
        run = [
            *("--instance-type", group.instance_type, "--count", str(launch.nodes)),
            *("--tag-specifications", f"ResourceType=instance,Tags=[{','.join(tags)}]"),
        ]
        if launch.is_spot:
            run += ["--instance-market-options", "MarketType=spot"]
        placement = ""
        if launch.nodes > 1:
            made = shell(["--group-name", launch.name, "--strategy", "cluster"])
            placement = f"aws ec2 create-placement-group {region} {made}\n"
            run += ["--placement", f"GroupName={launch.name}"]
        said, command = "The layout, for the launcher of the accelerators' vendor:", ""
        if not launch.no_gpu():
            said = "Start this on every machine, NODE_RANK counted from 0:"
            command = launch.torchrun(rank="$NODE_RANK", head="$FIRST_ADDRESS") + "\n"
        return (
            "#!/usr/bin/env bash\n"
            + comments([*launch.headline, *launch.start_note]) + "\nset -euo pipefail\n"
            + ': "${IMAGE_ID:?an image with a driver, for example a Deep Learning AMI}"\n'
            + ': "${SUBNET_ID:?a subnet of the region}"\n'
            + ': "${KEY_NAME:?the name of your key pair}"\n\n' + placement
            + f'ids="$(aws ec2 run-instances {region} {shell(run)} --image-id "$IMAGE_ID" '
            + '--subnet-id "$SUBNET_ID" --key-name "$KEY_NAME" '
            + "--query 'Instances[].InstanceId' --output text)\"\n"
            + f"# shellcheck disable=SC2086\naws ec2 wait instance-running {region} "
            + "--instance-ids $ids\n"
            + f"# shellcheck disable=SC2086\naws ec2 describe-instances {region} "
            + "--instance-ids $ids --query "
            + "'Reservations[].Instances[].[InstanceId,PrivateIpAddress,PublicIpAddress]' "
            + "--output text\n\n"
            + f"cat <<'ADVISOR_END'\n{said}\n{launch.exports()}{command}ADVISOR_END\n"
        )  # fmt: skip
