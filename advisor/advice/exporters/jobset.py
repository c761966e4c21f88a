"""Kubernetes: a JobSet, one pod per machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from advisor.advice.exporter import EXPORTERS, Language
from advisor.advice.launch import PORT
from advisor.advice.quoting import is_safe_name
from advisor.advice.yaml_text import yaml_text

if TYPE_CHECKING:
    from advisor.advice.launch import Launch

RESOURCES: Final = {"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu"}
IMAGE: Final = "pytorch/pytorch:latest"
GROUP: Final = "workers"
RESTARTS: Final = 3


@EXPORTERS.register("jobset")
class JobSet:
    """A JobSet for ``kubectl apply``; all its pods start again where one fails."""

    label: ClassVar[str] = "Kubernetes JobSet"
    use: ClassVar[str] = "kubectl apply -f {file}"
    suffix: ClassVar[str] = "jobset.yaml"
    language: ClassVar[Language] = "yaml"

    def refusal(self, launch: Launch) -> str:
        """Return why these pods cannot run the plan, or nothing."""
        if launch.group.accelerators_per_node < 1:
            return f"{launch.group.instance_type} has a share of a GPU; pods take whole ones."
        return launch.no_gpu()

    def write(self, launch: Launch) -> str:
        """Return the JobSet."""
        job = {
            "parallelism": launch.nodes,
            "completions": launch.nodes,
            "completionMode": "Indexed",
            "backoffLimit": 0,
            "template": {"metadata": {"labels": _labels(launch)}, "spec": _pod(launch)},
        }
        document = {
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": {"name": launch.name, "labels": _labels(launch)},
            "spec": {
                "failurePolicy": {"maxRestarts": RESTARTS},
                "replicatedJobs": [{"name": GROUP, "replicas": 1, "template": {"spec": job}}],
            },
        }
        return yaml_text((*launch.headline, f"Put your image in place of {IMAGE}."), document)


def _labels(launch: Launch) -> dict[str, str]:
    return {"advisor-plan": launch.plan.id}


def _pod(launch: Launch) -> dict[str, Any]:
    """Return the pod; the first one's name is known from those of its set and its job."""
    head = f"{launch.name}-{GROUP}-0-0.{launch.name}"
    environment = [{"name": k, "value": v} for k, v in launch.environment.items()]
    run = launch.torchrun(rank='"$JOB_COMPLETION_INDEX"', head=head)
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "containers": [
            {
                "name": "training",
                "image": IMAGE,
                "ports": [{"containerPort": PORT}],
                "env": environment,
                "command": ["bash", "-c", run],
                "resources": {"limits": {RESOURCES[launch.vendor]: launch.processes}},
                "volumeMounts": [{"name": "shared-memory", "mountPath": "/dev/shm"}],  # noqa: S108 - where PyTorch's loaders share
            }
        ],
        "volumes": [{"name": "shared-memory", "emptyDir": {"medium": "Memory"}}],
    }
    selector = {
        "node.kubernetes.io/instance-type": launch.group.instance_type.partition("+")[0],
        "topology.kubernetes.io/region": launch.group.region,
    }
    known = {name: value for name, value in selector.items() if is_safe_name(value)}
    return {"nodeSelector": known, **pod} if known and launch.group.cloud != "own" else pod
