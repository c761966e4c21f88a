"""Colours and symbols: fixed per accelerator family and market, in light and dark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import streamlit as st

FAMILIES: Final = {
    "Blackwell": ("#2F8A5B", "#8DFDC0"),
    "Hopper": ("#14499A", "#3B82F0"),
    "Ampere": ("#B4471A", "#FD9350"),
    "Ada": ("#E0529A", "#B85A9C"),
    "Volta": ("#565B61", "#9397A2"),
    "Trainium": ("#A98F10", "#FED41E"),
    "TPU": ("#1C99CA", "#4FD3FF"),
    "Instinct": ("#551826", "#E0524A"),
    "Other": ("#8A6BBE", "#B79CE8"),
}
FAMILY_TITLES: Final = {"Volta": "Volta, Turing"}
MARKET_SYMBOLS: Final = {
    "on_demand": "circle",
    "spot": "diamond",
    "reserved_1y": "triangle-up",
    "reserved_3y": "triangle-up",
    "savings_plan": "square",
    "capacity_block": "square",
}
MARKET_MARKS: Final = {
    "on_demand": "●", "spot": "◆", "reserved_1y": "▲", "reserved_3y": "▲", "savings_plan": "■",
    "capacity_block": "■",
}  # fmt: skip
MARKET_TITLES: Final = {
    "on_demand": "On-demand",
    "spot": "Spot",
    "reserved_1y": "Reserved 1 y",
    "reserved_3y": "Reserved 3 y",
    "savings_plan": "Savings plan",
    "capacity_block": "Capacity block",
}
CLOUD_TITLES: Final = {"aws": "AWS", "gcp": "GCP", "azure": "Azure", "own": "Own"}


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours of charts in one appearance."""

    dark: bool
    page: str
    text: str
    secondary: str
    border: str
    grid: str
    shade: str
    accent: str
    parts: tuple[str, ...]

    def family(self, name: str) -> str:
        """Return the colour of an accelerator family."""
        return FAMILIES.get(name, FAMILIES["Other"])[self.dark]


LIGHT: Final = Palette(
    dark=False, page="#FFFFFF", text="#15181E", secondary="#5B6472", border="#E3E6EB",
    grid="#EEF0F3", shade="#F5F6F8", accent="#4F46E5",
    parts=("#4F46E5", "#8E88EF", "#C3C0F7", "#DEDCFB", "#D5D9E0", "#B9BFC9", "#98A1AE",
           "#7A8494"),
)  # fmt: skip
DARK: Final = Palette(
    dark=True, page="#0B0C0F", text="#ECEEF2", secondary="#9BA3AF", border="#2A2E35",
    grid="#22262C", shade="#15171B", accent="#8B87F7",
    parts=("#8B87F7", "#6661C9", "#454189", "#302E5C", "#3A3F47", "#4A5059", "#5E6570",
           "#767E8A"),
)  # fmt: skip


def palette() -> Palette:
    """Return the colours of the reader's appearance."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def swatch(colour: str, mark: str = "●") -> str:
    """Return a coloured mark as markdown."""
    return f':color[{mark}]{{foreground="{colour}"}}'
