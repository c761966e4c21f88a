"""The kinds of architectures."""
