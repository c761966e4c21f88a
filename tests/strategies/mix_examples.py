"""A mix of three kinds of device, as fast as their layers were measured."""

from __future__ import annotations

from layer_profiles import MEMORY_BYTES, measured

from advisor.core.units import GIB
from advisor.domain import Model, Workload
from advisor.domain.mixed import DeviceGroup, Inventory
from advisor.strategies import Speeds
from advisor.strategies.speeds import Memory

MODEL = Model(
    name="toy", family="language", params=4e8, active_params=4e8, layers=8, hidden=2560, heads=20,
    kv_heads=20, vocab=50_000, tokens_per_sample=512, forward_flops_per_sample=4e11,
    activation_elements_per_sample=3e8, boundary_elements_per_sample=512 * 2560,
)  # fmt: skip
WORKLOAD = Workload(
    model=MODEL, samples=1e5, global_batch=64, precision="fp16", trainable_params=4e8
)


def group(name: str, devices: int) -> DeviceGroup:
    return DeviceGroup(
        name=name, accelerator=name, machines=1, accelerators_per_machine=devices,
        memory_bytes=MEMORY_BYTES[name], link_bytes_per_s=12e9, network_bytes_per_s=10e9,
    )  # fmt: skip


def speeds_of(*groups: tuple[str, int]) -> Speeds:
    """Return the speeds of so many devices of the named kinds."""
    inventory = Inventory(groups=tuple(group(name, devices) for name, devices in groups))
    names = [name for name, _ in groups]
    kept = Memory(state_bytes=16 * MODEL.params, sample_bytes=0.6 * GIB, fixed_bytes=2 * GIB)
    again = Memory(state_bytes=16 * MODEL.params, sample_bytes=0.1 * GIB, fixed_bytes=2 * GIB)
    return Speeds(
        workload=WORKLOAD,
        inventory=inventory,
        times=measured("gpt-2.7b"),
        memory=dict.fromkeys(names, kept),
        recomputed=dict.fromkeys(names, again),
    )
