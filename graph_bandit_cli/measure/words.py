"""Say in the words of the command line what the library refuses in those of Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

WORDS = (  # as the library says it, and as the command does
    (r"`count`", "`--n`"),
    (r"(with|has) (?:`maximize` )?True\.", r"\1 --maximize."),
    (r"(with|has) (?:`maximize` )?False\.", r"\1 --minimize."),
    (r"pass it as `agent`", "name it by --agent"),
    (r"\bthe state of a campaign", "the file of a campaign"),
    (r"`most_atoms`", "`--most-atoms`"),
    (r"(?:another `state` |with \S+=\S+ )\(on the command line (.*?)\)", r"\1"),
    (r"\(on the command line (.*?)\)", r"(\1)"),
)
MOLECULES = ((r"\bgraph(s?)\b", r"molecule\1"), (r"\bGraph(s?)\b", r"Molecule\1"))
QUOTED = re.compile(r"(`[^`]*`|'[^']*'|\"[^\"]*\")")


def to_command(text: str, is_molecules: bool) -> str:
    """Return a message of the library in the words of the command line.

    Args:
        text: the message.
        is_molecules: whether the pool holds molecules; else its graphs are called so.
    """
    for pattern, words in WORDS:
        text = re.sub(pattern, words, text)
    parts = QUOTED.split(text)  # names of the user's stay
    for pattern, words in MOLECULES if is_molecules else ():
        parts[::2] = [re.sub(pattern, words, part) for part in parts[::2]]
    return "".join(parts)


@contextmanager
def in_words_of_the_command(holds_molecules: Callable[[], bool] = lambda: True) -> Iterator[None]:
    """Put the message of a ValueError into the words of the command line.

    Args:
        holds_molecules: returns whether the pool holds molecules; called after an error only.
    """
    try:
        yield
    except ValueError as error:
        try:
            is_molecules = holds_molecules()
        except (ValueError, OSError, ImportError):  # it is told already
            is_molecules = False
        error.args = (to_command(str(error), is_molecules), *error.args[1:])
        raise
