"""The answer: picks, reasons, what would make an impossible job possible, exports."""

from advisor.advice.advise import Result, advise, select
from advisor.advice.engine import Engine

__all__ = ["Engine", "Result", "advise", "select"]
