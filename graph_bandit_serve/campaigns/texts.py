"""Texts of files and people, without characters that are not seen: a name could look like another one, or hide words.

People see a page, which shows most of them; a language model reads more than people see, so that it is told less.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

REPLACEMENT = "\ufffd"
LAYOUT = "\t\n"
TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
"""Classes of characters that turn the direction of what follows them."""
UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
"""Categories of characters that are not seen, or have no agreed look."""
EMPTY = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Characters of other categories that are not seen either."""
LONGEST = 10_000  # characters of a text that a program is told


def to_seen(text: str) -> str:
    """Return a text for a page without characters that are not seen there, or that turn what follows them."""
    return _replace(text, is_hidden)


def to_told(value: object) -> object:
    """Return a value of JSON for a language model, with long texts cut and without characters that people do not see.

    Args:
        value: the value.
    """
    if isinstance(value, str):
        cut = value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
        return _replace(cut, is_unseen)
    if isinstance(value, Mapping):
        return {to_told(name): to_told(each) for name, each in value.items()}
    return [to_told(each) for each in value] if isinstance(value, list) else value


def is_hidden(character: str) -> bool:
    """Return whether a character controls others in place of being seen."""
    is_control = unicodedata.category(character) in ("Cc", "Cs") and character not in LAYOUT
    return is_control or unicodedata.bidirectional(character) in TURNS


def is_unseen(character: str) -> bool:
    """Return whether people do not see a character that a program reads."""
    is_empty = EMPTY.match(character) is not None or unicodedata.category(character) in UNSEEN
    return is_empty and character not in LAYOUT


def _replace(text: str, is_wrong: Callable[[str], bool]) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(REPLACEMENT if is_wrong(character) else character for character in text)
