"""What a trace or log says about a run; what it does not say is None, never 0."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field

from advisor.core.errors import TraceError
from advisor.domain import Family, Profile, Provenance
from advisor.domain.base import Noun

# The first keys of `Trace.to_dict`, in this order; the other fields follow.
MAIN_KEYS: Final = (
    *("format", "step_time_s", "gpu_busy_share", "comm_share", "comm_exposed_share", "gpus"),
    *("gpu_name", "peak_memory_bytes", "global_batch", "throughput", "throughput_unit", "warnings"),
)


class RankRow(Noun):
    """One process of a job, as its own file shows it."""

    rank: int = Field(ge=0)
    steps: int | None = Field(default=None, ge=0)
    step_time_s: float | None = Field(default=None, gt=0)
    gpu_busy_share: float | None = Field(default=None, ge=0, le=1)
    comm_share: float | None = Field(default=None, ge=0, le=1)
    comm_exposed_share: float | None = Field(default=None, ge=0, le=1)
    peak_memory_bytes: float | None = Field(default=None, gt=0)


class Parts(Noun):
    """Where the observed time of a device went; the four parts add up to ``window_s``.

    ``compute_s`` is the union of all kernels but communication, ``comm_exposed_s`` communication
    that no other kernel hides, ``memcpy_s`` copies and fills that no kernel hides.
    """

    window_s: float = Field(gt=0)
    compute_s: float = Field(ge=0)
    comm_exposed_s: float = Field(ge=0)
    memcpy_s: float = Field(ge=0)
    idle_s: float = Field(ge=0)


class Timeline(Noun):
    """How a usual device spent equal slices of the observed time, as shares of a slice.

    What is left of a slice is idle. Of several ranks it is that of the slowest.
    """

    slice_s: float = Field(gt=0)
    compute: tuple[float, ...] = Field(min_length=1)
    comm_exposed: tuple[float, ...] = Field(min_length=1)
    memcpy: tuple[float, ...] = Field(min_length=1)


class HostTime(Noun):
    """What the host of one process did in its steps; means over the steps but for ``steps_s``.

    ``loading_s`` is the wait for the next batch, ``sync_s`` the wait for the device; ``launches``
    counts kernels, copies and fills. ``steps_s`` are the marked steps in their order.
    """

    steps_s: tuple[float, ...]
    loading_s: float = Field(default=0.0, ge=0)
    loader_in_process: bool = False
    sync_s: float = Field(default=0.0, ge=0)
    launches: float = Field(default=0.0, ge=0)


class OperatorRow(Noun):
    """An operator of the host with the shapes of its inputs, counted over its calls."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    calls: int = Field(ge=1)


class CollectiveRow(Noun):
    """A group of processes that exchange data, and how much of what; ``group`` may be unnamed."""

    group: str = ""
    size: int = Field(ge=1)
    dtype: str = ""
    elements: float = Field(ge=0, description="Elements of all messages together.")
    calls: int = Field(ge=1)


class KernelRow(Noun):
    """A kernel, summed over its calls; streams overlap, so the sum is no share of the window."""

    name: str
    calls: int = Field(ge=1)
    total_s: float = Field(ge=0)
    is_comm: bool = False


class Trace(Noun):
    """A run as one file, or all files of one job, describe it.

    Attributes
    ----------
    format : str
        Name of the format that was recognised.
    step_time_s : float or None
        Time of one optimizer step of the whole job [s]; with several ranks the slowest.
    steps : int or None
        Steps behind the step time, start-up excluded.
    gpu_busy_share : float or None
        Share of the window in which a device did anything, mean over devices.
    comm_share, comm_exposed_share : float or None
        Share of the window with communication, and with communication that no kernel hides.
    gpus : int or None
        Accelerators of the job; 0 where it ran on processors alone.
    gpus_on_host : int or None
        Accelerators of the machine, of which the job may have used a part.
    peak_memory_bytes, gpu_memory_bytes : float or None
        Largest memory allocated on one device, and memory that a device has [bytes].
    usd_per_h : float or None
        Price paid for all machines of the job together [$/h].
    global_batch : float or None
        Samples per optimizer step, in the samples of `throughput_unit` (tokens for some logs).
    throughput : float or None
        Of the whole job, in `throughput_unit`.
    layout : str
        Degrees of parallelism as far as known, as in ``tp=4;pp=2;dp=8``.
    ranks : tuple of RankRow
        One row per process.
    operators, collectives
        Shapes and messages, where the profiler recorded them.
    parts, timeline, host, kernels
        Where the time of the devices and of the host went.
    warnings : tuple of str
        Sentences about what is missing, doubtful or was left out.
    """

    format: str = Field(min_length=1)
    step_time_s: float | None = Field(default=None, gt=0)
    steps: int | None = Field(default=None, ge=0)
    gpu_busy_share: float | None = Field(default=None, ge=0, le=1)
    comm_share: float | None = Field(default=None, ge=0, le=1)
    comm_exposed_share: float | None = Field(default=None, ge=0, le=1)
    gpus: int | None = Field(default=None, ge=0)
    gpu_name: str | None = None
    peak_memory_bytes: float | None = Field(default=None, gt=0)
    global_batch: float | None = Field(default=None, gt=0)
    throughput: float | None = Field(default=None, gt=0)
    throughput_unit: str | None = None
    gpus_on_host: int | None = Field(default=None, ge=0)
    gpu_memory_bytes: float | None = Field(default=None, gt=0)
    nodes: int | None = Field(default=None, ge=1)
    instance_type: str | None = None
    usd_per_h: float | None = Field(default=None, gt=0)
    micro_batch: float | None = Field(default=None, gt=0)
    model: str | None = None
    params: float | None = Field(default=None, gt=0)
    sequence_length: int | None = Field(default=None, ge=1)
    precision: str | None = None
    framework: str | None = None
    layout: str = ""
    ranks: tuple[RankRow, ...] = ()
    operators: tuple[OperatorRow, ...] = ()
    collectives: tuple[CollectiveRow, ...] = ()
    parts: Parts | None = None
    timeline: Timeline | None = None
    host: HostTime | None = None
    kernels: tuple[KernelRow, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def is_measured(self) -> bool:
        """Whether the file holds any number about speed, use or memory."""
        return any(
            value is not None
            for value in (
                *(self.step_time_s, self.throughput, self.gpu_busy_share),
                *(self.comm_share, self.peak_memory_bytes),
            )
        )

    def main_fields(self) -> dict[str, Any]:
        """Return the main keys as plain JSON values."""
        fields = self.model_dump(mode="json", include=set(MAIN_KEYS))
        return {key: fields[key] for key in MAIN_KEYS}

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, the main keys first."""
        fields = self.model_dump(mode="json")
        return {key: fields.pop(key) for key in MAIN_KEYS} | fields

    def to_profile(
        self,
        *,
        model: str = "",
        family: Family = "other",
        accelerator: str = "",
        accelerators: float | None = None,
        source: str = "own trace",
    ) -> Profile:
        """Return the run as a profile; arguments say what the file does not, and win over it.

        Raises
        ------
        TraceError
            If step time, model, accelerator or their number are not known.
        """
        given = {
            "the model": model or self.model,
            "the accelerator": accelerator or self.gpu_name,
            "the number of accelerators": accelerators or self.gpus,
            "a step time": self.step_time_s,
        }
        missing = [what for what, value in given.items() if not value]
        if missing:
            raise TraceError(
                f"this {self.format} file does not give {' and '.join(missing)}.",
                todo="Fill in what is missing, or add a file that has it.",
            )
        name, device, count, step_time_s = given.values()
        return Profile.make(
            model=name,
            family=family,
            params=self.params,
            sample_size=self.sequence_length,
            framework=self.framework or "",
            precision=self.precision or "",
            accelerator=device,
            accelerators=count,
            nodes=self.nodes,
            instance_type=self.instance_type or "",
            parallelism=self.layout,
            global_batch=self.global_batch,
            micro_batch=self.micro_batch,
            step_time_s=step_time_s,
            peak_memory_bytes=self.peak_memory_bytes,
            gpu_busy_share=self.gpu_busy_share,
            comm_share=self.comm_share,
            provenance=Provenance(source=source, notes=f"read from {self.format}"),
        )


class CutOffError(TraceError):
    """A file that ends early; ``readable`` is what its first part says."""

    readable: Trace

    def __init__(self, what: str, readable: Trace, *, where: str = "", todo: str = "") -> None:
        super().__init__(what, where=where, todo=todo)
        self.readable = readable
