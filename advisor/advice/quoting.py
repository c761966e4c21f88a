"""Text that others gave, inside files that machines run: one line, quoted for its language."""

from __future__ import annotations

import json
import re
import shlex
import unicodedata
from typing import TYPE_CHECKING, Final

from advisor.core.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# What Kubernetes, Slurm and the clouds all take as a name or a label.
SAFE_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
LONGEST_COMMAND: Final = 4000


def one_line(text: str) -> str:
    r"""Return the text without line ends and control characters, fit for a comment.

    >>> one_line("a\nrm -rf /\x00\u2028b")
    'a rm -rf / b'
    """
    spaced = " ".join(text.split())
    kept = (letter for letter in spaced if unicodedata.category(letter) not in ("Cc", "Cf", "Cs"))
    return "".join(kept)


def comments(lines: Iterable[str], mark: str = "#") -> str:
    r"""Return lines as comments, whatever they hold.

    >>> comments(["one", "two\nthree"])
    '# one\n# two three\n'
    """
    return "".join(f"{mark} {one_line(line)}".rstrip() + "\n" for line in lines)


def shell(words: Iterable[str]) -> str:
    """Return words as one shell command; each stays one word.

    >>> shell(["torchrun", "train.py", "a b; $(c)"])
    "torchrun train.py 'a b; $(c)'"
    """
    return shlex.join(words)


def hcl(text: str) -> str:
    r"""Return a string of HCL; nothing in it is a template.

    >>> print(hcl('a "b" ${c} %{d}'))
    "a \"b\" $${c} %%{d}"
    """
    quoted = json.dumps(one_line(text), ensure_ascii=False)
    return quoted.replace("${", "$${").replace("%{", "%%{")


def is_safe_name(text: str) -> bool:
    """Return whether the text can stand as a name or a label everywhere."""
    return SAFE_NAME.fullmatch(text) is not None


def words_of(command: str, where: str = "command") -> tuple[str, ...]:
    """Return the words of a command line; they are quoted anew wherever they are written.

    Raises
    ------
    InvalidInputError
        If it is empty or too long, a quote is open, or it holds control characters.

    >>> words_of("train.py --name 'a b'")
    ('train.py', '--name', 'a b')
    """
    try:
        words: Sequence[str] = shlex.split(command)
    except ValueError as error:
        raise InvalidInputError(
            f"the command cannot be read ({str(error).lower()}).",
            where=where,
            todo="Close the quote: train.py --name 'my run'.",
        ) from None
    if not words or len(command) > LONGEST_COMMAND:
        raise InvalidInputError(
            f"a command has 1 to {LONGEST_COMMAND:,} characters.",
            where=where,
            todo="Give the script and its arguments: train.py --config my.yaml.",
        )
    if any(one_line(word) != word for word in words):
        raise InvalidInputError(
            "an argument holds line ends, repeated spaces or control characters.",
            where=where,
            todo="Write the command on one line.",
        )
    return tuple(words)
