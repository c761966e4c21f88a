"""Errors, units, text of numbers, the plug-in registry: what every room may use."""
