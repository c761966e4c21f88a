"""Many jobs × scenarios, on many processes or machines; resumed where it stopped."""

from advisor.advice.sweep.run import Progress, sweep
from advisor.advice.sweep.table import Task, read_tasks

__all__ = ["Progress", "Task", "read_tasks", "sweep"]
