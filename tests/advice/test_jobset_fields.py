"""A JobSet by the fields that Kubernetes has: no other ones, and of their types.

The fields are those of jobset.x-k8s.io/v1alpha2, of batch/v1 Jobs and of core/v1 pods as published,
so far as an export can have them; a server refuses what is not among them.
"""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from advisor.advice.exporter import export
from advisor.testing.exports import launch, parsed

NAME = {"type": "string", "pattern": r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63}
LABELS = {"type": "object", "additionalProperties": {
    "type": "string", "pattern": r"^([A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?)?$", "maxLength": 63,
}}  # fmt: skip
COUNT = {"type": "integer", "minimum": 1}


def fields(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required),
            "additionalProperties": False}  # fmt: skip


def many(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of, "minItems": 1}


TEXT = {"type": "string"}
CONTAINER = fields(
    ("name", "image"), name=NAME, image=TEXT, command=many(TEXT), args=many(TEXT),
    env=many(fields(("name",), name={"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
                    value=TEXT)),
    ports=many(fields(("containerPort",), containerPort=COUNT)),
    resources=fields(limits={"type": "object", "additionalProperties": COUNT}),
    volumeMounts=many(fields(("name", "mountPath"), name=NAME, mountPath=TEXT)),
)  # fmt: skip
POD = fields(
    ("containers", "restartPolicy"), containers=many(CONTAINER), nodeSelector=LABELS,
    restartPolicy={"enum": ["Never", "OnFailure"]},
    volumes=many(fields(("name",), name=NAME, emptyDir=fields(medium={"enum": ["", "Memory"]}))),
)  # fmt: skip
JOB = fields(
    ("template",), parallelism=COUNT, completions=COUNT, backoffLimit={"type": "integer"},
    completionMode={"enum": ["Indexed", "NonIndexed"]},
    template=fields(("spec",), metadata=fields(labels=LABELS), spec=POD),
)  # fmt: skip
JOBSET = fields(
    ("apiVersion", "kind", "metadata", "spec"),
    apiVersion={"const": "jobset.x-k8s.io/v1alpha2"},
    kind={"const": "JobSet"},
    metadata=fields(("name",), name=NAME, labels=LABELS),
    spec=fields(
        ("replicatedJobs",),
        failurePolicy=fields(maxRestarts={"type": "integer", "minimum": 0}),
        replicatedJobs=many(fields(("name", "template"), name=NAME, replicas=COUNT,
                                   template=fields(("spec",), spec=JOB))),
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    "sample",
    [
        launch(), launch(count=1, market="on_demand"),
        launch("gcp", "n1-standard-16+2xT4", "T4", region="us-west1", each=2),
        launch("own", "our box/1; $(x)", "A100-80GB", region='la "b"', count=1),
        launch("azure", "Standard_ND96isr_MI300X_v5", "MI300X", vendor="AMD"),
    ],
    ids=["aws", "one", "attached", "own", "amd"],
)  # fmt: skip
def test_a_jobset_has_only_fields_that_kubernetes_has(sample: Any) -> None:
    document = parsed(export("jobset", sample))
    jsonschema.validate(document, JOBSET)
    # A pod's name is that of its set, its job, two numbers; it must fit into a host's.
    assert len(document["metadata"]["name"]) + len("-workers-0-0-xxxxx") <= 63


def test_the_fields_are_strict() -> None:
    document = parsed(export("jobset", launch()))
    document["spec"]["replicatedJobs"][0]["template"]["spec"]["paralelism"] = 2
    with pytest.raises(jsonschema.ValidationError, match="paralelism"):
        jsonschema.validate(document, JOBSET)
