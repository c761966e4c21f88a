"""A small script that measures a training job where it runs, to be uploaded afterwards.

The script needs PyTorch only. It leaves a profiler trace and a page of facts per process, and
neither user nor host nor paths are in them.
"""

from __future__ import annotations

from string import Template
from typing import Final

from advisor.core.errors import InvalidInputError

MOST_STEPS: Final = 1000

_SCRIPT: Final = Template('''\
"""Measure a PyTorch training job: put this file beside your script, and in it

    from advisor_probe import Probe

    with Probe(model="My-Net", batch_per_device=32) as probe:
        for batch in loader:
            ...  # forward, backward, optimizer.step()
            if probe.step():
                break

Then upload the folder advisor-probe. Started by itself, it measures a tiny network.
"""

import json
import os
import re
import statistics
import time

import torch

WAIT, WARM_UP, STEPS = $wait, $warm_up, $steps
FOLDER = "advisor-probe"


class Probe:
    """Lets some steps pass, profiles the next ones, and writes what was measured."""

    def __init__(self, model="", batch_per_device=None, sequence_length=None, precision="",
                 parameters=None, accumulation=1):
        self.rank = int(os.environ.get("RANK", "0"))
        self.world = int(os.environ.get("WORLD_SIZE", "1"))
        self.gpu = torch.cuda.is_available()
        self.done = 0
        self.ends = []
        batch = batch_per_device
        self.facts = {
            "advisor_run_facts": 1, "rank": self.rank, "world_size": self.world,
            "model": model, "parameters": parameters, "precision": precision,
            "micro_batch": batch, "sequence_length": sequence_length,
            "global_batch": batch * accumulation * self.world if batch else None,
            "torch": torch.__version__,
        }
        kinds = [torch.profiler.ProfilerActivity.CPU]
        if self.gpu:
            kinds.append(torch.profiler.ProfilerActivity.CUDA)
        self.profiler = torch.profiler.profile(
            activities=kinds, record_shapes=$shapes, profile_memory=True, with_stack=False,
            schedule=torch.profiler.schedule(wait=WAIT, warmup=WARM_UP, active=STEPS, repeat=1),
            on_trace_ready=self._write,
        )

    def __enter__(self):
        os.makedirs(FOLDER, exist_ok=True)
        self.profiler.__enter__()
        return self

    def step(self):
        """Say that a step is over; return True once enough was measured."""
        self.done += 1
        if self.done <= WAIT:  # without the profiler: the plain time of a step
            if self.gpu:
                torch.cuda.synchronize()
            self.ends.append(time.perf_counter())
        self.profiler.step()
        return self.done >= WAIT + WARM_UP + STEPS

    def __exit__(self, *error):
        self.profiler.__exit__(*error)
        times = [b - a for a, b in zip(self.ends, self.ends[1:])]
        times = times[len(times) // 2:]  # the first ones start up
        self.facts["step_time_s"] = statistics.median(times) if times else None
        self.facts["steps"] = len(times)
        if self.gpu:
            device = torch.cuda.get_device_properties(torch.cuda.current_device())
            self.facts["gpu_name"] = device.name
            self.facts["gpu_memory_bytes"] = device.total_memory
            self.facts["gpus_on_host"] = torch.cuda.device_count()
            self.facts["peak_memory_bytes"] = torch.cuda.max_memory_allocated()
        self.facts["gpus"] = self.world if self.gpu else 0
        with open(f"{FOLDER}/rank{self.rank}.facts.json", "w") as file:
            json.dump(self.facts, file, indent=1)

    def _write(self, profiler):
        path = f"{FOLDER}/rank{self.rank}.trace.json"
        profiler.export_chrome_trace(path)
        with open(path) as file:
            text = file.read()
        text = re.sub(r'"(\\w*(?:host|user)_?name)": *"[^"]*"', r'"\\1": "-"', text)
        private = {os.path.expanduser("~"), os.getcwd(), os.uname().nodename}
        private |= {os.environ.get("USER", ""), os.environ.get("LOGNAME", "")}
        for word in sorted(private, key=len, reverse=True):
            if len(word) > 2:
                text = re.sub(rf"(?<!\\w){re.escape(word)}(?!\\w)", "-", text)
        with open(path, "w") as file:
            file.write(text)


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
    net = net.to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    count = sum(parameter.numel() for parameter in net.parameters())
    with Probe("tiny network", batch_per_device=64, precision="fp32", parameters=count) as probe:
        while True:
            inputs = torch.randn(64, 256, device=device)
            labels = torch.randint(10, (64,), device=device)
            loss = torch.nn.functional.cross_entropy(net(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if probe.step():
                break
    print(f"measured; upload the folder {FOLDER}")


if __name__ == "__main__":
    main()
''')


def probe_script(
    *, wait: int = 10, warm_up: int = 5, steps: int = 20, record_shapes: bool = True
) -> str:
    """Return the script.

    Parameters
    ----------
    wait : int
        Steps before the profiler starts; of their second half the plain step time is taken.
    warm_up : int
        Steps with the profiler on that are not recorded.
    steps : int
        Steps that are recorded.
    record_shapes : bool
        Whether shapes are recorded, from which batch and model can be guessed.

    Raises
    ------
    InvalidInputError
        If a number is not possible.
    """
    for name, value, least in (("wait", wait, 3), ("warm_up", warm_up, 1), ("steps", steps, 2)):
        if not least <= value <= MOST_STEPS:
            raise InvalidInputError(
                f"{value} is not possible.",
                where=name,
                todo=f"Give a number from {least} to {MOST_STEPS}.",
            )
    numbers = {"wait": wait, "warm_up": warm_up, "steps": steps, "shapes": record_shapes}
    return _SCRIPT.substitute({name: str(value) for name, value in numbers.items()})
