"""Accuracy boards, search speed, page latency: one command each, ``python -m benchmarks.NAME``."""
