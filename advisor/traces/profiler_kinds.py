"""Events of the PyTorch profiler, decoded by category into the few fields that it needs.

Half of a trace are arrows between events and details that nobody asks for; to step over them takes
a third of the time that it takes to build them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Union, cast

import msgspec

from advisor.traces import chrome_event
from advisor.traces.chrome_event import Args, Label

if TYPE_CHECKING:
    from advisor.traces.chrome_event import Event

# The profiler of 2021 wrote the capitals.
KERNELS: Final = frozenset({"kernel", "Kernel", "concurrent_kernel"})
COPIES: Final = frozenset(
    {"gpu_memcpy", "gpu_memset", "Memcpy", "Memset", "memcpy", "memset", "gpu_memcpy_p2p"}
)
LAUNCHES: Final = frozenset(
    {
        *("cuda_runtime", "cuda_driver", "Runtime", "runtime", "hip_runtime", "hip_driver"),
        *("xpu_runtime", "xpu_driver", "privateuse1_runtime", "privateuse1_driver"),
    }
)
# Arrows between events: many, and of no use here.
FLOWS: Final = frozenset({"ac2g", "async_cpu_to_gpu", "async_gpu", "async", "fwdbwd"})
# Lines of Python, with_stack=True: most of such a file, and of no use here either.
STACKS: Final = frozenset({"python_function"})
_NAMED: Final = frozenset(
    {
        *("cpu_op", "user_annotation", "Operator", "gpu_user_annotation", "cpu_instant_event"),
        *("overhead", "Trace", "cuda_sync", "cuda_event", "cpu_event", "user_defined"),
    }
)
_NO_DETAILS: Final = msgspec.Raw()
_DETAILS: Final = msgspec.json.Decoder(Args | None, strict=False)


class WorkArgs(msgspec.Struct, gc=False):
    """Details of work on a device."""

    device: Label = None
    stream: Label = None
    correlation: float | None = None


class LaunchArgs(msgspec.Struct, gc=False):
    """Details of a call that launches work."""

    correlation: float | None = None


class Work(msgspec.Struct, gc=False):
    """A kernel, copy or fill; fields stand in the order in which the profiler writes them."""

    cat: ClassVar[str]

    ph: str | None = None
    name: str | None = None
    pid: Label = None
    tid: Label = None
    ts: float | None = None
    dur: float | None = None
    args: WorkArgs | None = None


class Launch(msgspec.Struct, gc=False):
    """A call of the host to the device."""

    cat: ClassVar[str]

    ph: str | None = None
    name: str | None = None
    ts: float | None = None
    dur: float | None = None
    args: LaunchArgs | None = None


class Named(msgspec.Struct, gc=False):
    """An operator, a step or a sample of the allocator; most of its details are never looked at."""

    cat: ClassVar[str]

    ph: str | None = None
    name: str | None = None
    ts: float | None = None
    dur: float | None = None
    details: msgspec.Raw = msgspec.field(name="args", default=_NO_DETAILS)

    @property
    def args(self) -> Args | None:
        """The details, None where there are none or they are no details."""
        if not self.details:
            return None
        try:
            return _DETAILS.decode(self.details)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            return None


class Line(msgspec.Struct, gc=False):
    """A line of Python."""

    cat: ClassVar[str]

    dur: float | None = None


class Arrow(msgspec.Struct, gc=False):
    """A flow from one event to another."""

    cat: ClassVar[str]


_CLASSES: Final = {
    Work: KERNELS | COPIES,
    Launch: LAUNCHES,
    Named: _NAMED,
    Line: STACKS,
    Arrow: FLOWS,
}
# One class per category: that is how the decoder tells them apart.
_TAGGED: Final = tuple(
    msgspec.defstruct(
        f"{base.__name__}_{category}",
        [],
        bases=(base,),
        namespace={"cat": category},
        tag_field="cat",
        tag=category,
        gc=False,
    )
    for base, categories in _CLASSES.items()
    for category in sorted(categories)
)
_MANY: Final = msgspec.json.Decoder(list[Union[_TAGGED]], strict=False)  # type: ignore[valid-type]  # noqa: UP007


def decode(text: bytes, end: int | None = None) -> list[Event] | None:
    """Return the events of a piece of an event array up to `end`, None where it is not valid.

    They have the fields of `Event` that their category needs. A piece with a category that is not
    known here, or with events without one, is decoded whole.
    """
    try:
        return cast("list[Event]", _MANY.decode(b"".join((b"[", memoryview(text)[:end], b"]"))))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return chrome_event.decode(text, end)
