"""Conformance classes: what every plug-in must satisfy, and the reference data of tests."""
