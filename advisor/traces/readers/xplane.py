"""XPlane files of JAX and TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from advisor.traces.draft import Draft
from advisor.traces.protobuf import fields
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_PLANES = (b"/host:", b"/device:", b"Task Environment")


@READERS.register("tf_jax_xplane")
class XplaneReader:
    """Recognised and explained."""

    label: ClassVar[str] = "XPlane profile of JAX or TensorFlow (explained only)"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 60

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See a message whose first field is a plane with the name of a host or device."""
        if head[:1] != b"\x0a" or not any(name in head for name in _PLANES):
            return False
        # The length of the first plane, then its identifier or its name.
        opening = head[1:12].lstrip(bytes(range(128, 256)))[1:]
        return opening[:1] in {b"\x08", b"\x12"} or any(True for _ in fields(head[:4096]))

    @staticmethod
    def read(source: Source) -> Trace:  # noqa: ARG004 - not decoded
        """Say what to upload instead."""
        draft = Draft(format="tf_jax_xplane")
        draft.warn(
            "An XPlane file is not decoded; upload the trace.json.gz that TensorBoard keeps beside "
            "it, with step markers (jax.profiler.StepTraceAnnotation)."
        )
        return draft.finish()
