"""Work on devices as columns, and how much of the time it filled."""

from __future__ import annotations

import re
import statistics
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from advisor.traces.intervals import Union
from advisor.traces.scrub import clean
from advisor.traces.trace import KernelRow, Parts, Timeline

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from advisor.traces.draft import Draft

T = TypeVar("T", bound=np.generic)

KERNEL: Final = 0
COPY: Final = 1
SLICES: Final = 120
_TOP: Final = 12
_ENOUGH_CALLS: Final = 3
_COMM: Final = re.compile(
    r"nccl|rccl|msccl|oneccl|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|send_?recv",
    re.IGNORECASE,
)


def is_comm(name: str) -> bool:
    """Tell whether a kernel is a collective or a point-to-point transfer between devices.

    >>> is_comm("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), is_comm("ampere_sgemm_128x64_tn")
    (True, False)
    """
    return _COMM.search(name) is not None


class Names:
    """Distinct names, each with a number; beyond a limit all further ones share one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._numbers: dict[str, int] = {}
        self.overflowed = False

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, names: Sequence[str]) -> list[int]:
        """Return the numbers of names; those never seen before get one."""
        found = list(map(self._numbers.get, names))
        return [self._number(name) for name in names] if None in found else found  # type: ignore[return-value]

    def _number(self, name: str) -> int:
        known = self._numbers.get(name)
        if known is not None:
            return known
        if len(self._numbers) >= self._most:
            self.overflowed = True
            name = "(further kernels)"
        return self._numbers.setdefault(name, len(self._numbers))

    def listed(self) -> list[str]:
        """Return the names in the order of their numbers."""
        return list(self._numbers)


class DeviceWork:
    """Kernels, copies and fills of all devices of one process, one row each; times in seconds."""

    def __init__(self, most_names: int) -> None:
        self.names = Names(most_names)
        self.devices: dict[Hashable, int] = {}
        self._streams: dict[Hashable, int] = {}
        self._start = array("d")
        self._end = array("d")
        self._device = array("q")
        self._stream = array("q")
        self._name = array("i")
        self._kind = array("b")

    def __len__(self) -> int:
        return len(self._start)

    def extend(
        self,
        *,
        start: Sequence[float] | NDArray[np.float64],
        end: Sequence[float] | NDArray[np.float64],
        device: Sequence[Hashable],
        stream: Sequence[Hashable],
        names: Sequence[str],
        kind: Sequence[int],
    ) -> None:
        """Add rows; devices and streams may be called by anything."""
        self._start.frombytes(np.asarray(start, dtype=np.float64).tobytes())
        self._end.frombytes(np.asarray(end, dtype=np.float64).tobytes())
        self._device.extend(_numbered(self.devices, device))
        self._stream.extend(_numbered(self._streams, stream))
        self._name.extend(self.names.of(names))
        self._kind.extend(kind)

    @property
    def start(self) -> NDArray[np.float64]:
        """Start of each row [s]."""
        return _view(self._start, np.float64)

    @property
    def end(self) -> NDArray[np.float64]:
        """End of each row [s]."""
        return _view(self._end, np.float64)

    @property
    def device(self) -> NDArray[np.int64]:
        """Device of each row."""
        return _view(self._device, np.int64)

    @property
    def stream(self) -> NDArray[np.int64]:
        """Stream of each row."""
        return _view(self._stream, np.int64)

    @property
    def is_kernel(self) -> NDArray[np.bool_]:
        """Whether each row is a kernel; others are copies and fills."""
        return np.asarray(_view(self._kind, np.int8) == KERNEL, dtype=np.bool_)

    @property
    def is_comm(self) -> NDArray[np.bool_]:
        """Whether each row is communication between devices."""
        by_name = np.array([is_comm(name) for name in self.names.listed()], dtype=bool)
        return np.asarray(by_name[_view(self._name, np.int32)] & self.is_kernel, dtype=np.bool_)

    def top(self, scale_s: float = 1.0) -> tuple[KernelRow, ...]:
        """Return the kernels with most time, summed over calls."""
        count = len(self.names)
        name = _view(self._name, np.int32)
        total_s = np.bincount(name, weights=self.end - self.start, minlength=count) * scale_s
        calls = np.bincount(name, minlength=count)
        names = self.names.listed()
        return tuple(
            KernelRow(
                name=clean(names[i]) or "(no name)",
                calls=int(calls[i]),
                total_s=float(total_s[i]),
                is_comm=is_comm(names[i]),
            )
            for i in np.argsort(-total_s, kind="stable")[:_TOP]
            if calls[i] > 0
        )

    def clip_overflows(self, times: float) -> int:
        """Shorten kernels that run absurdly far into the next one of their stream.

        A stream runs one kernel after the other, so a kernel that is `times` as long as usual for
        its name and overlaps its successor has a broken end. Returns how many were shortened.
        """
        order = np.lexsort((self.start, self.stream, self.device))
        start, end, name = self.start[order], self.end[order], _view(self._name, np.int32)[order]
        same = (self.device[order][1:] == self.device[order][:-1]) & (
            self.stream[order][1:] == self.stream[order][:-1]
        )
        duration = end - start
        usual = _usual(name, duration, len(self.names))
        broken = same & (end[:-1] > start[1:]) & (duration[:-1] > times * usual[name[:-1]])
        self.end[order[:-1][broken]] = start[1:][broken]
        return int(np.count_nonzero(broken))


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of a window, means over devices, the parts of the window, and how it went by."""

    busy: float
    comm: float
    comm_exposed: float
    parts: Parts
    timeline: Timeline

    def describe(self, draft: Draft, work: DeviceWork) -> None:
        """Set what a trace says of the time of its devices, and of their longest kernels."""
        draft.gpu_busy_share = self.busy
        draft.comm_share, draft.comm_exposed_share = self.comm, self.comm_exposed
        draft.parts, draft.timeline = self.parts, self.timeline
        draft.kernels = work.top()


def shares(work: DeviceWork, window: tuple[float, float] | None) -> Shares | None:
    """Return how the devices spent a window; without one, each the span of its own work.

    None where there is no work or no window.
    """
    devices = [_Device.of(work, number, window) for number in np.unique(work.device)]
    found = [device for device in devices if device is not None]
    each = np.array([device.times() for device in found])
    if not each.size or not np.isfinite(each).all():
        return None
    length, busy, _, exposed, other, copies = np.mean(each, axis=0)
    share = np.mean(each[:, 1:4] / each[:, :1], axis=0)
    return Shares(
        busy=float(share[0]),
        comm=float(share[1]),
        comm_exposed=float(share[2]),
        parts=Parts(
            window_s=length,
            compute_s=other,
            comm_exposed_s=exposed,
            memcpy_s=copies,
            idle_s=max(length - busy, 0.0),
        ),
        timeline=_timeline(found),
    )


@dataclass(frozen=True, slots=True)
class _Device:
    """When a device did what within its window [s]."""

    first: float
    last: float
    comm: Union
    other: Union
    kernels: Union
    all_work: Union

    @classmethod
    def of(
        cls, work: DeviceWork, device: int, window: tuple[float, float] | None
    ) -> _Device | None:
        """Look at a device; None where its window is empty."""
        mine = work.device == device
        start, end = work.start[mine], work.end[mine]
        first, last = window or (float(start.min()), float(end.max()))
        if not last > first:
            return None
        comm_rows, kernel_rows = work.is_comm[mine], work.is_kernel[mine]

        def union(rows: NDArray[np.bool_]) -> Union:
            return Union.of(start[rows], end[rows]).within(first, last)

        comm, other = union(comm_rows), union(kernel_rows & ~comm_rows)
        kernels = comm.joined(other)
        return cls(first, last, comm, other, kernels, kernels.joined(union(~kernel_rows)))

    def times(self) -> tuple[float, float, float, float, float, float]:
        """Return window, busy, communication, exposed communication, compute and copies [s]."""
        kernels_s, other_s = self.kernels.length, self.other.length
        return (
            *(self.last - self.first, self.all_work.length, self.comm.length),
            *(max(kernels_s - other_s, 0.0), other_s),
            max(self.all_work.length - kernels_s, 0.0),
        )

    def slices(self) -> NDArray[np.float64]:
        """Return compute, exposed communication and copies of equal slices, as their shares."""
        edges = np.linspace(self.first, self.last, SLICES + 1)
        other, kernels, all_work = (
            np.diff(union.covered(edges)) for union in (self.other, self.kernels, self.all_work)
        )
        parts = np.array([other, kernels - other, all_work - kernels])
        return np.clip(parts * SLICES / (self.last - self.first), 0.0, 1.0)


def _timeline(devices: Sequence[_Device]) -> Timeline:
    compute, comm, copies = np.mean([device.slices() for device in devices], axis=0).round(4)
    length_s = statistics.fmean(device.last - device.first for device in devices)
    return Timeline(
        slice_s=length_s / SLICES,
        compute=compute.tolist(),
        comm_exposed=comm.tolist(),
        memcpy=copies.tolist(),
    )


def _usual(
    group: NDArray[np.int32], value: NDArray[np.float64], groups: int
) -> NDArray[np.float64]:
    """Return the lower median of each group; of a group too small, ten times that of all."""
    order = np.lexsort((value, group))
    counts = np.bincount(group, minlength=groups)
    firsts = np.cumsum(counts) - counts
    middle = firsts + np.maximum(counts - 1, 0) // 2
    medians = np.full(groups, 10 * float(np.median(value)) if value.size else 0.0)
    enough = counts >= _ENOUGH_CALLS
    medians[enough] = value[order][middle[enough]]
    return medians


def _numbered(known: dict[Hashable, int], labels: Sequence[Hashable]) -> list[int]:
    """Return the numbers of labels; those never seen before get the next one."""
    found = list(map(known.get, labels))
    if None in found:
        return [known.setdefault(label, len(known)) for label in labels]
    return found  # type: ignore[return-value]


def _view(column: array[float] | array[int], kind: type[T]) -> NDArray[T]:
    """Return a column as an array on the same memory."""
    return np.frombuffer(column, dtype=kind) if len(column) else np.empty(0, dtype=kind)
