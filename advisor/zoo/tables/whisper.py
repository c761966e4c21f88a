"""Whisper."""

from __future__ import annotations

from advisor.zoo.kinds.t5 import WhisperShape, whisper

PAPER = "Radford et al. 2022, arXiv 2212.04356, table 1"

MODELS = tuple(
    whisper(
        WhisperShape(
            hidden=hidden,
            heads=heads,
            encoder_layers=layers,
            decoder_layers=layers,
            inner=4 * hidden,
        ),
        name=name,
        title=title,
        published_params=published,
        source=source,
    )
    for name, title, hidden, layers, heads, published, source in (
        (
            "whisper-base",
            "Whisper base",
            512,
            6,
            8,
            72.6e6,
            f"{PAPER}; parameters: model card openai/whisper-base (the paper rounds to 74M)",
        ),
        ("whisper-small", "Whisper small", 768, 12, 12, 244e6, PAPER),
        ("whisper-medium", "Whisper medium", 1024, 24, 16, 769e6, PAPER),
        ("whisper-large", "Whisper large", 1280, 32, 20, 1550e6, PAPER),
    )
)
