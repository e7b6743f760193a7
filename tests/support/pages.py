"""Read programs and commands out of pages: README.md, CONTRIBUTING.md, CHANGELOG.md and all of docs/."""

from __future__ import annotations

import re
import shutil
import subprocess
import textwrap
from dataclasses import dataclass
from pathlib import Path

from support import ROOT

PAGES = tuple(sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]))
PROGRAMS = ("graph-bandit", "make", "python", "pip", "git", "uv", "pytest", "ruff", "mypy")
SHELL = ("sh", "bash", "console")
FENCE = re.compile(r"^( *)(```|~~~)(\w*)([^\n]*)\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)(?: {4}[^\n]*\n)+")
LINK = re.compile(r"\]\(<?([^\s)>]+)|\b(?:src|srcset|href)=\"([^\"]+)\"")
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
ANCHOR = re.compile(r"<a (?:id|name)=\"([^\"]+)\"")
INLINE = re.compile(r"`((?:graph-bandit|make|python|pip) [^`]+)`")
NUMBER = re.compile(r"[(\[]?(-?[\d,]*\.?\d+)[%)\],.;:]*")
FIRST_WORD = re.compile(r"[\w-]*")
RECORD = "\x1e"


@dataclass(frozen=True)
class Block:
    """A program, or lines for a shell, as a page shows them."""

    language: str
    text: str
    line: int
    """Of the page, where the text begins."""
    remark: str = ""
    """The rest of the line that opens the block: "slow" if only the slow tests compare what it shows."""


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page in order: fenced ones, and indented ones that begin with a program or a loop."""
    text = page.read_text(encoding="utf-8")
    found = [
        Block(match[3], textwrap.dedent(match[5]), text.count("\n", 0, match.start(5)) + 1, match[4].strip())
        for match in FENCE.finditer(text)
    ]
    rest = FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    for match in INDENTED.finditer(rest):
        lines = textwrap.dedent(match[0])
        if FIRST_WORD.match(lines)[0] in (*PROGRAMS, "for"):
            found.append(Block("sh", lines, rest.count("\n", 0, match.start()) + 1))
    return sorted(found, key=lambda block: block.line)


def pairs_of(page: Path) -> list[tuple[Block, Block | None]]:
    """Return the blocks of a page that run, each with what it prints: the block of plain text right after it."""
    blocks = blocks_of(page)
    after = [*blocks, None][1:]
    runs = [(block, after) for block, after in zip(blocks, after, strict=True) if block.language in ("python", *SHELL)]
    return [(block, shown if shown and shown.language == "text" else None) for block, shown in runs]


def first_not_printed(shown: str, printed: str) -> str:
    """Return the first line that a page shows and a program did not print, in this order; an empty text if all are.

    A line `...` stands for any lines, and a word `…` for any word. Numbers may differ by 5 % or in the last digit.
    """
    lines, place, may_skip = [line.split() for line in printed.splitlines() if line.strip()], 0, False
    for line in filter(str.strip, shown.splitlines()):
        if line.strip() == "...":
            may_skip = True
            continue
        found = [k for k in range(place, len(lines)) if are_alike(line.split(), lines[k])]
        if not found or (found[0] > place and not may_skip):
            return line
        place, may_skip = found[0] + 1, False
    return ""


def are_alike(shown: list[str], printed: list[str]) -> bool:
    """Tell whether the words of two lines are equal, but for the last digits of numbers and for `…`."""
    if len(shown) != len(printed):
        return False
    for one, other in zip(shown, printed, strict=True):
        numbers = [match[1].replace(",", "") for word in (one, other) if (match := NUMBER.fullmatch(word))]
        if len(numbers) == 2:
            last, (mine, theirs) = 10.0 ** -len(numbers[0].partition(".")[2]), map(float, numbers)
            if abs(mine - theirs) > max(0.05 * abs(theirs), 1.01 * last):
                return False
        elif one not in ("…", other):
            return False
    return True


def commands_of(block: Block) -> list[list[str]]:
    """Return the commands that bash would start, as lists of words: loops, braces and quotes are bash's business.

    No program is started: functions that are called like them write down what they are given.
    """
    note = f"printf '%s\\0' \"$FUNCNAME\" \"$@\"; printf '{RECORD}\\0'"
    functions = [f"{name}() {{ {note}; }}" for name in PROGRAMS] + ["cd() { :; }", "source() { :; }", "PATH=/nowhere"]
    text = re.sub(r"(?m)(^|&& |; )[\w./]*bin/", r"\1", block.text)
    bash = shutil.which("bash")
    assert bash, "Expected bash, which reads the commands of pages. Got none."
    done = subprocess.run([bash, "-c", "\n".join([*functions, text])], capture_output=True, encoding="utf-8")
    assert not done.stderr, f"Expected commands that a shell reads. Got, at line {block.line}:\n{done.stderr}"
    records = done.stdout.split(f"{RECORD}\0")[:-1]
    return [record.split("\0")[:-1] for record in records]


def inline_commands_of(page: Path) -> list[str]:
    """Return the commands that sentences name."""
    rest = FENCE.sub("", page.read_text(encoding="utf-8"))
    return INLINE.findall(rest)


def links_of(page: Path) -> list[str]:
    """Return where the links and pictures of a page lead, within the repository."""
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))
    return [link for link in map("".join, LINK.findall(text)) if not re.match(r"\w+:", link)]


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page as GitHub names them: after its headings, with numbers if some are equal."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    names = [re.sub(r"\]\([^)]*\)|[^\w -]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)]
    numbered = {f"{name}-{names[:place].count(name)}".removesuffix("-0") for place, name in enumerate(names)}
    return numbered | set(ANCHOR.findall(text))
