"""One file per checkpoint rule."""
