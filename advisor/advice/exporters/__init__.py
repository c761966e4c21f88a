"""Exports of a plan, one file per tool; `advisor.advice.exporter` has their contract."""
