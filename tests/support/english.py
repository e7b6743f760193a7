"""Count the turns of phrase that a native speaker reads twice (CONTRIBUTING.md, "English").

    PYTHONPATH=tests python -m support.english [ROOT]

prints how often each pattern stands in the product's sources and in the pages; `-v` also prints the lines.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from support import ROOT

PATTERNS = {
    "module docstring begins with What, Which, ...": r'\A(?:#!.*\n)?"""(?:What|Which|Whose|Who|Where|How)\b',
    "anew": r"\banew\b",
    "mend": r"\bmend(?:s|ed|ing)?\b",
    "of one's own": r"\bof (?:one's|one’s) own\b",
    "is no X": r"\b(?:is|are|was|were) no (?!longer\b|(?:more|less|fewer|better|worse|larger|smaller|earlier|later)\b)",
    "beside": r"\bbeside\b",
    "for one in": r"\bfor one in\b",
    "whoever": r"\bwhoever\b",
}
"""Name of each pattern, and its regular expression, searched with `re.MULTILINE` off, case kept."""

THERE_IS = re.compile(r"\b(?:[Tt]here|[Ww]here) (?:is|are|was|were) no\b")
"""Plain English, whatever follows."""


def sources(root: Path) -> Iterator[Path]:
    """Yield the files that users and maintainers read: product, examples, benchmarks and pages."""
    folders = ("gntk", "graph_bandit_env", "agents", "graph_bandit_lab", "graph_bandit_campaign")
    for folder in (*folders, "graph_bandit_serve", "graph_bandit_cli", "benchmarks", "examples"):
        for suffix in ("*.py", "*.jinja", "*.ipynb"):
            yield from sorted((root / folder).rglob(suffix))
    yield from sorted(root.glob("*.py"))
    yield from sorted(path for path in root.glob("*.md") if path.name != "CHANGELOG.md")
    yield from sorted((root / "docs").rglob("*.md"))


def occurrences(text: str, pattern: str) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line in which a pattern stands."""
    lines = text.splitlines()
    for match in re.finditer(pattern, text):
        number = text.count("\n", 0, match.start()) + 1
        if not (" no " in pattern and THERE_IS.search(lines[number - 1])):
            yield number, lines[number - 1].strip()


def main(arguments: list[str]) -> None:
    """Print the counts, and with `-v` the lines."""
    verbose = "-v" in arguments
    root = Path(next((argument for argument in arguments if argument != "-v"), str(ROOT)))
    texts = {path: path.read_text(encoding="utf-8") for path in sources(root)}
    for name, pattern in PATTERNS.items():
        lines = [(path, *hit) for path, text in texts.items() for hit in occurrences(text, pattern)]
        print(f"{len(lines):5d}  {name}")
        if verbose:
            print("".join(f"         {path.relative_to(root)}:{number}: {line}\n" for path, number, line in lines))


if __name__ == "__main__":
    main(sys.argv[1:])
