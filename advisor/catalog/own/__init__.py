"""The user's own machines and terms: small CSV files in the data directory."""

from advisor.catalog.own.files import read, remove, save, stamp
from advisor.catalog.own.known import Known, known
from advisor.catalog.own.parse import MOST_BYTES, Parsed, Problem, parse, parse_any
from advisor.catalog.own.table import OwnTable
from advisor.catalog.own.tables import CHOICES, CREDITS, DISCOUNTS, MACHINES, TABLES
from advisor.catalog.own.terms import CARBON, COMMITMENTS, RATES
from advisor.catalog.own.writing import cells_csv, csv_rows, csv_text, template

__all__ = [
    "CARBON",
    "CHOICES",
    "COMMITMENTS",
    "CREDITS",
    "DISCOUNTS",
    "MACHINES",
    "MOST_BYTES",
    "RATES",
    "TABLES",
    "Known",
    "OwnTable",
    "Parsed",
    "Problem",
    "cells_csv",
    "csv_rows",
    "csv_text",
    "known",
    "parse",
    "parse_any",
    "read",
    "remove",
    "save",
    "stamp",
    "template",
]
