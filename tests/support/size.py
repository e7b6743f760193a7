"""How large the project is, at one commit or several: PYTHONPATH=tests python -m support.size [COMMIT ...].

Lines of code are those without blanks, comments and docstrings. Stubs count, and Markdown counts by words.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tarfile
import tokenize
from collections import Counter
from collections.abc import Iterator

from support import ROOT
from support.house import PRODUCT

SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
SHORT = 60  # lines of a file
PLACES = (*PRODUCT, "benchmarks", "tests", "examples")
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/evidence", "docs/guides", "docs/theory")


def lines_of_code(text: str) -> int:
    """Count the lines of a file of Python that hold code."""
    docstrings = set[int]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def files_of(commit: str) -> Iterator[tuple[str, str]]:
    """Yield the path and text of the files of a commit that are counted."""
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None and member.name.endswith((".py", ".pyi", ".md")):
                yield member.name, content.read().decode()


def count(commit: str) -> Counter[tuple[str, str]]:
    """Count what a commit holds, by place and kind."""
    counts = Counter[tuple[str, str]]()
    for path, text in files_of(commit):
        if path.endswith(".md"):
            place = next((page for page in PAGES if path.startswith(page)), "other pages")
            counts[place, "words"] += len(text.split())
            continue
        place = path.split("/")[0].removesuffix(".py")
        for row in [place] * (place in PLACES) + ["product"] * (place in PRODUCT):
            counts[row, "lines"] += lines_of_code(text)
            counts[row, "files"] += 1
            counts[row, "short files"] += 0 < len(text.splitlines()) < SHORT and "__init__" not in path
        if place == "tests":
            nodes = ast.walk(ast.parse(text))
            counts[place, "tests"] += sum(isinstance(n, ast.FunctionDef) and n.name.startswith("test_") for n in nodes)
    return counts


def main(commits: list[str]) -> None:
    """Print a table of Markdown: a row for each count, a column for each commit."""
    found = {commit: count(commit) for commit in commits}
    places = ("product", *PLACES, *PAGES, "other pages")
    print(f"| place | count | {' | '.join(found)} |")
    print("|---" * (2 + len(found)) + "|")
    for place in places:
        for kind in ("lines", "files", "short files", "tests", "words"):
            numbers = [each[place, kind] for each in found.values()]
            if any(numbers):
                print(f"| {place} | {kind} | {' | '.join(f'{number:,}' for number in numbers)} |")


if __name__ == "__main__":
    main(sys.argv[1:] or ["HEAD"])
