"""YAML with a comment on top; texts of several lines stay readable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from advisor.advice.quoting import comments

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Dumper(yaml.SafeDumper):
    """The safe dumper, with scripts as blocks."""


def _represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent)


def yaml_text(headline: Sequence[str], document: dict[str, Any]) -> str:
    r"""Return the document in the order of its keys, below its headline as comments.

    >>> print(yaml_text(["Plan 1"], {"b": 1, "run": "x\ny\n"}), end="")
    # Plan 1
    b: 1
    run: |
      x
      y
    """
    body = yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=10_000, allow_unicode=True)
    return comments(headline) + body
