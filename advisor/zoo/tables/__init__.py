"""The named architectures: each module holds a tuple ``MODELS``; a new one needs no list."""
