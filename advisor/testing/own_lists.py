"""Lists of the user for tests: own machines, discounts and credits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.catalog.own import MACHINES
from advisor.core.paths import data_dir

if TYPE_CHECKING:
    from advisor.catalog.own import OwnTable

LAB: Final = "lab-h100,H100,8,9.50,4,192,2048,NVLink,400,eu-lab,2026-07-01"
BOX: Final = "box,RTX 4090,2,0.80,1,,,,,,"
AWS_DISCOUNT: Final = "cloud,market,discount_percent\naws,on-demand,12\n"
AWS_CREDITS: Final = "cloud,credits_usd\naws,500\n"


def machines_csv(*rows: str) -> str:
    """Return a list of machines with its header."""
    return "\n".join([",".join(MACHINES.header), *rows, ""])


def write(table: OwnTable, text: str) -> None:
    """Put a file where the provider reads it, whatever it holds."""
    (data_dir() / table.file).write_text(text, encoding="utf-8")
