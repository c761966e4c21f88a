"""What every export of a plan needs: the plan, its job, the command, and how they are counted."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from advisor.advice.quoting import one_line, shell
from advisor.core.units import hours, interval, number, usd

if TYPE_CHECKING:
    from advisor.domain import Plan, Proposal, Workload
    from advisor.domain.cluster import NodeGroup

DEFAULT_COMMAND: Final = ("train.py",)
PORT: Final = 29500  # torchrun's own
NEEDS_THE_MODEL: Final = (
    "A configuration lays no tensor or pipeline parallelism out: take Megatron-LM's arguments."
)
GPU_VENDORS: Final = ("NVIDIA", "AMD")


@dataclass(frozen=True, slots=True)
class Launch:
    """A plan to be run: its job, the script with its arguments, who made the accelerators."""

    proposal: Proposal
    vendor: str
    command: tuple[str, ...] = DEFAULT_COMMAND

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.proposal.plan

    @property
    def workload(self) -> Workload:
        """The job."""
        return self.proposal.workload

    @property
    def group(self) -> NodeGroup:
        """The machines."""
        return self.plan.cluster.groups[0]

    @property
    def name(self) -> str:
        """A name that every tool takes; it holds the id of the plan."""
        return f"plan-{self.plan.id}"

    @property
    def nodes(self) -> int:
        """Machines."""
        return self.group.count

    @property
    def processes(self) -> int:
        """Processes per machine, one for each accelerator that the layout uses."""
        return max(1, self.plan.layout.devices // self.nodes)

    @property
    def is_spot(self) -> bool:
        """Whether the machines can be taken away."""
        return self.plan.offer.market == "spot"

    @property
    def environment(self) -> dict[str, str]:
        """The layout and the batch, for a script of any framework."""
        layout = self.plan.layout
        return {
            "ADVISOR_PLAN_ID": self.plan.id,
            "GLOBAL_BATCH": str(self.workload.global_batch),
            "MICRO_BATCH": str(layout.micro_batch),
            "GRADIENT_ACCUMULATION": str(layout.accumulation),
            "DATA_PARALLEL": str(layout.data_parallel),
            "TENSOR_PARALLEL": str(layout.tensor_parallel),
            "PIPELINE_PARALLEL": str(layout.pipeline_parallel),
            "ZERO_STAGE": str(layout.zero_stage),
            "RECOMPUTE": layout.recompute,
            "PRECISION": self.workload.precision,
            "TRAIN_STEPS": str(self.plan.steps),
        }

    @property
    def headline(self) -> tuple[str, ...]:
        """What the file is for, as lines of comment."""
        plan, group, offer = self.plan, self.group, self.plan.offer
        cost, time = plan.cost_usd, plan.hours
        money = f"{usd(cost.value)} ({interval(number(cost.low), number(cost.high))})"
        taken = f"{hours(time.value)} h ({interval(hours(time.low), hours(time.high))})"
        batch = f"{self.workload.global_batch:,}, {self.workload.precision}"
        lines = (
            f"Plan {plan.id}: {plan.cluster}, {group.cloud} {group.region}, "
            + offer.market.replace("_", " "),
            f"Job: {self.workload.model.name}, {plan.steps:,} steps of {batch}",
            f"Layout: {plan.layout}",
            f"Predicted: {money}, {taken}, {cost.level:.0%} intervals",
            f"Price: {usd(offer.usd_per_h)}/h per machine, {offer.dated}",
        )
        reserved = offer.market.startswith("reserved")
        said = ("The price is that of a reservation: start the machines under yours.",)
        return tuple(one_line(line) for line in (*lines, *(said if reserved else ())))

    def torchrun(self, *, rank: str, head: str, flags: tuple[str, ...] = ()) -> str:
        """Return the command that starts the job on one machine.

        Parameters
        ----------
        rank, head : str
            Shell words that give the rank of the machine and the address of the first one; they
            are written as they are.
        flags : tuple of str
            Arguments after those of the command; quoted.
        """
        script = shell((*self.command, *flags))
        if self.nodes == 1:
            return f"torchrun --standalone --nproc-per-node={self.processes} {script}"
        return (
            f"torchrun --nnodes={self.nodes} --nproc-per-node={self.processes} "
            f"--node-rank={rank} --master-addr={head} --master-port={PORT} {script}"
        )

    def exports(self) -> str:
        """Return the environment as lines of a shell script."""
        lines = (f"export {k}={shlex.quote(v)}\n" for k, v in self.environment.items())
        return "".join(lines)

    @property
    def start_note(self) -> tuple[str, ...]:
        """What a file that only makes machines says of the start on accelerators of its own kind.

        Empty on GPUs, whose processes torchrun starts.
        """
        if not self.no_gpu():
            return ()
        return (f"Machines only: {self.group.accelerator} starts with its vendor's launcher.",)

    def no_gpu(self) -> str:
        """Return why torchrun's usual launch does not run on these accelerators, or nothing."""
        if self.vendor in GPU_VENDORS:
            return ""
        return f"{self.group.accelerator} is no GPU: its vendor's launcher is needed."
