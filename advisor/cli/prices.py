"""Own machines, discounts and credits in the terminal: list, import, remove, template."""

from __future__ import annotations

import json
import sys
from argparse import SUPPRESS
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from advisor.catalog import own
from advisor.cli.stored_tables import say
from advisor.cli.tables import console
from advisor.cli.text import plain, printable
from advisor.core.errors import InvalidInputError

if TYPE_CHECKING:
    import argparse

    from advisor.catalog.own import OwnTable, Parsed


def add_commands(actions: Any) -> None:
    """Add ``prices`` to the parser's commands."""
    command = actions.add_parser("prices", help="own machines, discounts and credits")
    command.set_defaults(run=list_prices)
    command.add_argument("--json", action="store_true", help="print JSON")
    what = command.add_subparsers(metavar="ACTION")
    action = what.add_parser("import", help="replace a list by a CSV file")
    action.set_defaults(run=import_prices)
    action.add_argument("file", type=Path, metavar="FILE", help="its header says which list it is")
    for name, run, words in (
        ("remove", remove_prices, "remove a list"),
        ("template", print_template, "print the header of a list and an example"),
    ):
        other = what.add_parser(name, help=words)
        other.set_defaults(run=run)
        other.add_argument("list", metavar="LIST", help=", ".join(own.TABLES))
    for name in ("import", "remove"):
        # An action leaves alone what stood before it.
        what.choices[name].add_argument("--json", action="store_true", default=SUPPRESS,
                                        help="print JSON")  # fmt: skip


def list_prices(options: argparse.Namespace) -> int:
    """List what the user's lists hold, and what is wrong with them."""
    found = {name: own.read(table) for name, table in own.TABLES.items()}
    if options.json:
        _print_json({name: _fields(parsed) for name, parsed in found.items()})
        return 0
    if not any(parsed.rows or parsed.problems for parsed in found.values()):
        say("There are no own machines, discounts or credits. Begin with: python -m advisor "
            "prices template machines")  # fmt: skip
    for parsed in found.values():
        _show(parsed)
    return 0


def import_prices(options: argparse.Namespace) -> int:
    """Replace a list by a file; nothing changes where anything in it is wrong."""
    where = options.file.name
    try:
        parsed = own.parse_any(_content(options.file), own.known())
    except InvalidInputError as error:
        raise InvalidInputError(error.what, where=where, todo=error.todo) from None
    for problem in parsed.problems[1:]:
        print(f"{printable(where)}, {printable(str(problem))}", file=sys.stderr)  # noqa: T201 - beside the output
    rows = parsed.checked(where)
    if not rows:
        raise InvalidInputError(
            "the file has a header and no rows.", where=where,
            todo=f"To empty the list: python -m advisor prices remove {parsed.table.name}.",
        )  # fmt: skip
    before = len(own.read(parsed.table).rows)
    own.save(parsed.table, rows)
    if options.json:
        _print_json({"list": parsed.table.name, "rows": len(rows), "replaced": before})
    else:
        instead = f"; they replace {before:,}" if before else ""
        say(f"Imported {_counted(len(rows))} of {parsed.table.name}{instead}.")
    return 0


def remove_prices(options: argparse.Namespace) -> int:
    """Remove a list."""
    table = _named(options.list)
    before = len(own.read(table).rows)
    removed = own.remove(table)
    if options.json:
        _print_json({"list": table.name, "removed": removed, "rows": before})
    else:
        say(f"Removed {_counted(before)} of {table.name}." if removed
            else f"There was no list of {table.name}.")  # fmt: skip
    return 0


def print_template(options: argparse.Namespace) -> int:
    """Print the header of a list and an example row."""
    print(own.template(_named(options.list)), end="")  # noqa: T201 - this is the output
    return 0


def _named(name: str) -> OwnTable:
    if name not in own.TABLES:
        raise InvalidInputError(
            f"there is no list “{name}”.", where="prices", todo=f"Use {', '.join(own.TABLES)}."
        )
    return own.TABLES[name]


def _counted(rows: int) -> str:
    return f"{rows:,} {'row' if rows == 1 else 'rows'}"


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(own.MOST_BYTES + 1)
    except OSError as error:
        raise InvalidInputError(
            f"the file cannot be read ({error.strerror}).", todo="Give the path of a CSV file."
        ) from None


def _fields(parsed: Parsed) -> dict[str, Any]:
    rows = [{name: _plain(value) for name, value in row.items()} for row in parsed.rows]
    return {"rows": rows, "problems": [str(problem) for problem in parsed.problems]}


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, str | float) else str(value)


def _show(parsed: Parsed) -> None:
    table = parsed.table
    if parsed.rows:
        shown = Table(*table.header, title=table.name, title_justify="left", box=None)
        lines = own.csv_rows(table, parsed.rows)
        for cells in lines:
            shown.add_row(*map(plain, cells))
        console().print(shown)
    for problem in parsed.problems:
        say(f"{table.file}, {problem}")
    if parsed.problems:
        say(f"The list of {table.name} is not used until this is corrected.")


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=1, allow_nan=False))  # noqa: T201 - this is the output
