"""One file per policy."""
