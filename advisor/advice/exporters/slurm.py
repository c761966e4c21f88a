"""Slurm: a batch script that starts torchrun on every machine."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.advice.exporter import EXPORTERS, Language
from advisor.advice.launch import PORT
from advisor.advice.quoting import comments, shell

if TYPE_CHECKING:
    from advisor.advice.launch import Launch

# Slurm ends a job at its limit: half as long again as the upper bound of what is predicted.
TIME_MARGIN: Final = 1.5


@EXPORTERS.register("slurm")
class Slurm:
    """A script for ``sbatch``; the partition is the cluster's default."""

    label: ClassVar[str] = "Slurm, torchrun"
    use: ClassVar[str] = "sbatch {file}"
    suffix: ClassVar[str] = "sbatch"
    language: ClassVar[Language] = "bash"

    def refusal(self, launch: Launch) -> str:
        """Return why torchrun cannot run the plan, or nothing."""
        return launch.no_gpu()

    def write(self, launch: Launch) -> str:
        """Return the script."""
        minutes = math.ceil(launch.plan.hours.high * TIME_MARGIN * 60)
        directives = {
            "job-name": launch.name,
            "nodes": launch.nodes,
            "ntasks-per-node": 1,
            "gpus-per-node": launch.processes,
            "exclusive": None,
            "time": f"{minutes // 1440}-{minutes // 60 % 24:02d}:{minutes % 60:02d}:00",
        }
        lines = (f"#SBATCH --{k}" + ("" if v is None else f"={v}") for k, v in directives.items())
        return (
            "#!/usr/bin/env bash\n" + "\n".join(lines) + "\n"
            + comments([*launch.headline, f"The time limit is {TIME_MARGIN:g} × the upper bound."])
            + "\nset -euo pipefail\n"
            + launch.exports()
            + 'head="$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n1)"\n'
            + f"srun torchrun --nnodes={launch.nodes} --nproc-per-node={launch.processes} "
            + f'--rdzv-id="$SLURM_JOB_ID" --rdzv-backend=c10d --rdzv-endpoint="$head:{PORT}" '
            + shell(launch.command) + "\n"
        )  # fmt: skip
