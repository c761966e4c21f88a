"""A read trace as a measured run to calibrate by, and as the job to ask advice for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from advisor import zoo
from advisor.advice.free_text import ADAPTED
from advisor.advice.job import DEFAULT_RANK, Job
from advisor.advice.machines import parse_machines
from advisor.core.errors import InvalidInputError
from advisor.search.own_runs import precision_of

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.domain import Family, Profile
    from advisor.traces import Trace
    from advisor.zoo import Architecture

# A rate that is this near to batch ÷ step time counts what the batch counts.
SAME_RATE: Final = 1.05
# What can be missing, and the option of the command line that says it.
OPTIONS: Final = {
    "the model": "--model",
    "the global batch": "--global-batch",
    "the accelerator": "--current “8 x p5.48xlarge”",
    "the number of accelerators": "--current “8 x p5.48xlarge”",
    "a step time": "",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What is known of a run beside its file; it fills what the file does not say.

    ``accelerator`` is a name of the catalog, ``nodes`` the machines.
    """

    model: str | None = None
    sample_size: int | None = None
    global_batch: int | None = None
    precision: str | None = None
    tuning: str = "pretrain"
    lora_rank: int = DEFAULT_RANK
    accelerator: str | None = None
    accelerators: float | None = None
    nodes: int | None = None
    instance_type: str | None = None

    @classmethod
    def of_job(cls, job: Job) -> RunFacts:
        """Return what a job says of the runs that were made of it."""
        return cls(
            model=job.model or None,
            sample_size=job.sample_size,
            global_batch=job.global_batch,
            precision=job.precision,
            tuning=job.tuning,
            lora_rank=job.lora_rank,
        )

    def on(self, machines: str, catalog: Catalog) -> RunFacts:
        """Return the facts with the machines that were used, such as ``4 x p4d.24xlarge``."""
        count, machine = parse_machines(machines, catalog)
        return replace(
            self,
            accelerator=machine.accelerator,
            accelerators=count * machine.accelerators,
            nodes=count,
            instance_type=machine.name,
        )


@dataclass(frozen=True, slots=True)
class _Known:
    """What a trace and the facts beside it say together."""

    model: str | None
    architecture: Architecture | None
    of_job: bool
    size: int | None
    batch: float | None
    device: str | None
    count: float | None
    step_time_s: float | None

    def missing(self) -> tuple[str, ...]:
        needed = {
            "the model": self.model,
            "the global batch": self.batch,
            "the accelerator": self.device,
            "the number of accelerators": self.count,
            "a step time": self.step_time_s,
        }
        return tuple(what for what, value in needed.items() if not value)


def missing_facts(trace: Trace, facts: RunFacts) -> tuple[str, ...]:
    """Return what neither a trace nor the facts say of a run, in the words of `OPTIONS`.

    Raises
    ------
    InvalidInputError
        If the model of the facts is not known.
    """
    return _known(trace, facts).missing()


def _known(trace: Trace, facts: RunFacts) -> _Known:
    model, architecture = _model_of(trace, facts)
    of_job = architecture is not None and architecture == _architecture(facts.model)
    size = trace.sequence_length or (facts.sample_size if of_job else None)
    if size is None and architecture is not None:
        size = architecture.default_sample_size
    return _Known(
        model=model,
        architecture=architecture,
        of_job=of_job,
        size=size,
        batch=samples_of(trace, size) or facts.global_batch,
        device=trace.gpu_name or facts.accelerator,
        count=trace.gpus or facts.accelerators,
        step_time_s=trace.step_time_s,
    )


def run_of_trace(trace: Trace, facts: RunFacts, catalog: Catalog, *, where: str = "") -> Profile:
    """Return a trace as a measured run.

    Parameters
    ----------
    trace : Trace
        What a file says. The model is the one it names; where it names none, or one that is not
        known and has no parameter count, it is taken as a run of the model in `facts`.
    facts : RunFacts
        Fills what the file does not say.
    catalog : Catalog
        Knows the accelerators.
    where : str
        Name of the file, for messages.

    Raises
    ------
    InvalidInputError
        If model, global batch, accelerator, their number or a step time are not known, the
        accelerator is not in the catalog, or the run used none; the message says what to give.
    """
    # What is stated is no gap that the facts could fill; a profile of processors alone on a
    # machine with accelerators states nothing.
    if trace.gpus == 0 and not trace.gpus_on_host:
        raise InvalidInputError(
            "this run ran without accelerators.",
            where=where,
            todo="Give a run on accelerators, or leave their number empty if it is not known.",
        )
    known = _known(trace, facts)
    _ask_for_missing(known.missing(), trace, where)
    architecture, size, count = known.architecture, known.size, known.count
    device = catalog.accelerator_name(str(known.device))
    facts = _of_device(facts, device, trace, catalog, where)
    profile = trace.to_profile(
        model=str(known.model),
        family=_family(trace, architecture),
        accelerator=device,
        accelerators=count,
    )
    tuned = facts.tuning in ADAPTED and known.of_job
    layout = ";".join(
        part for part in (profile.parallelism, "tuning=lora" if tuned else "") if part
    )
    return profile.model_copy(
        update={
            **_shape(architecture, size),
            "parallelism": layout,
            "global_batch": known.batch,
            "sample_size": size,
            "precision": precision_of(trace.precision or "") or facts.precision or "",
            "nodes": trace.nodes or _nodes(facts, count),
            "instance_type": trace.instance_type or facts.instance_type or "",
        }
    )


def job_of_trace(trace: Trace, facts: RunFacts | None = None, *, where: str = "") -> Job:
    """Return the job that a trace is of, to ask advice for; how much to train is left open.

    Raises
    ------
    InvalidInputError
        If no known model is named by the trace or the facts.
    """
    said = facts or RunFacts()
    named, architecture = _model_of(trace, said)
    if architecture is None:
        says = f" (it says “{trace.model}”)" if trace.model else ""
        raise InvalidInputError(
            f"the trace does not say a known model{says}.",
            where=where,
            todo="Give the model: --model llama-2-7b, a config.json or a size such as 7B.",
        )
    given = _architecture(said.model)
    size = trace.sequence_length or said.sample_size
    batch = samples_of(trace, size or architecture.default_sample_size) or said.global_batch
    return Job(
        model=str(said.model if architecture == given else named),
        sample_size=size,
        global_batch=None if batch is None else max(1, round(batch)),
        precision=precision_of(trace.precision or "") or said.precision or "bf16",
        tuning=said.tuning,
        lora_rank=said.lora_rank,
    )


def samples_of(trace: Trace, size: int | None) -> float | None:
    """Return the samples of one step; a batch that counts tokens is divided by their number.

    Parameters
    ----------
    size : int, optional
        Tokens of a sample; None where it is not known, and then a batch of tokens is not either.
    """
    batch, rate, step_s = trace.global_batch, trace.throughput, trace.step_time_s
    if batch is None or not (trace.throughput_unit or "").startswith("token"):
        return batch
    if rate is None or step_s is None or not 1 / SAME_RATE < batch / (rate * step_s) < SAME_RATE:
        return batch
    return None if not size else batch / size


def _model_of(trace: Trace, facts: RunFacts) -> tuple[str | None, Architecture | None]:
    """Return the name of a run's model, and the model itself if it is known.

    What a file says is only looked up: it shall not make the program read another file.
    """
    named = zoo.named(trace.model) if trace.model else None
    if trace.model and (named is not None or trace.params is not None):
        return trace.model, named
    given = _architecture(facts.model)
    return (trace.model, None) if given is None else (given.name, given)


def _architecture(model: str | None) -> Architecture | None:
    """Return what a user means by a model.

    Raises
    ------
    InvalidInputError
        If there is none of that name.
    """
    return zoo.resolve(model) if model else None


def _family(trace: Trace, architecture: Architecture | None) -> Family:
    if architecture is not None:
        return architecture.family
    return "language" if trace.sequence_length is not None else "other"


def _shape(architecture: Architecture | None, size: int | None) -> dict[str, object]:
    """Return the fields of a profile that describe a known model: a run speaks for itself."""
    if architecture is None:
        return {}
    model = architecture.model(size)
    return {
        "params": model.params,
        "layers": model.layers,
        "hidden": model.hidden or None,
        "forward_flops_per_sample": model.forward_flops_per_sample,
    }


def _of_device(
    facts: RunFacts, device: str, trace: Trace, catalog: Catalog, where: str
) -> RunFacts:
    """Return the facts without machines that hold other accelerators than the run was made on.

    Raises
    ------
    InvalidInputError
        If only they say how many accelerators there were.
    """
    family = catalog.accelerators["family"]
    if facts.accelerator is None or family[facts.accelerator] == family[device]:
        return facts
    if trace.gpus is None:
        raise InvalidInputError(
            f"the file is of {device}, but the machines given hold {facts.accelerator}.",
            where=where,
            todo="Give the machines that this run was made on.",
        )
    return replace(facts, accelerator=None, accelerators=None, nodes=None, instance_type=None)


def _nodes(facts: RunFacts, count: float | None) -> int | None:
    return facts.nodes if count == facts.accelerators else None


def _ask_for_missing(missing: tuple[str, ...], trace: Trace, where: str) -> None:
    if not missing:
        return
    options = list(dict.fromkeys(OPTIONS[what] for what in missing if OPTIONS[what]))
    todo = f"Give {' and '.join(options)}." if options else ""
    if "a step time" in missing:
        todo = "Give a trace or log of several steps."
    raise InvalidInputError(
        f"the trace ({trace.format}) does not say {' and '.join(missing)}.", where=where, todo=todo
    )
