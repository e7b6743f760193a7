"""How large the project is, now or at commits: PYTHONPATH=tests python -m support.size [COMMIT ...].

Lines of code are those without blanks, comments and docstrings (also of fields), in `.py` and `.pyi`. Statements and
tokens do without docstrings' statements and comments. Other code is what runs or is read by programs beside Python:
templates, scripts, style sheets, settings, notebooks and extensions of the docs, without blank lines. Markdown counts
by words. `budgets.toml` limits what `measure` returns.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator

from support import PRODUCT, ROOT

SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
PLACES = (*PRODUCT, "benchmarks", "tests", "examples")
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/evidence", "docs/guides", "docs/theory")
OTHER_CODE = (".jinja", ".js", ".css", ".toml", ".cfg", ".json", ".ipynb")
KINDS = ("lines", "statements", "tokens", "modules", "tests", "words")


def is_docstring(node: ast.AST) -> bool:
    """Tell whether a statement is a bare string."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def count_python(text: str) -> Counter[str]:
    """Count lines of code, statements, tokens and test functions of a file of Python."""
    nodes = [*ast.walk(ast.parse(text))]
    docstrings, lines, tokens = set[int](), set[int](), 0
    for node in filter(is_docstring, nodes):
        docstrings.update(range(node.lineno, node.end_lineno + 1))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT:
            tokens += 1
            lines.update(range(token.start[0], token.end[0] + 1))
    return Counter(
        lines=len(lines - docstrings),
        statements=sum(isinstance(node, ast.stmt) and not is_docstring(node) for node in nodes),
        tokens=tokens,
        tests=sum(isinstance(node, ast.FunctionDef) and node.name.startswith("test_") for node in nodes),
    )


def files_of(commit: str | None) -> Iterator[tuple[str, str]]:
    """Yield the path and text of the files of a commit, or of the working tree, that are counted."""
    here = ("ls-files", "--cached", "--others", "--exclude-standard")
    for path in git(*(here if commit is None else ("ls-tree", "-r", "--name-only", commit))).splitlines():
        if path.endswith((".py", ".pyi", ".md", *OTHER_CODE)):
            if commit is not None:
                yield path, git("show", f"{commit}:{path}")
            elif (ROOT / path).is_file():
                yield path, (ROOT / path).read_text(encoding="utf-8")


def git(*arguments: str) -> str:
    """Return what git prints."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout


def rooms_of(path: str) -> tuple[str, ...]:
    """Name the larger or smaller places that a file of Python also counts for."""
    place, *rest = path.split("/")
    if place == "tests":
        return (f"tests/{rest[0]}" if len(rest) > 1 else "tests/*.py",)
    return ("product",) if place.removesuffix(".py") in PRODUCT else ()


def measure(commit: str | None = None) -> Counter[tuple[str, str]]:
    """Count what a commit, or the working tree, holds, by place and kind."""
    counts = Counter[tuple[str, str]]()
    for path, text in files_of(commit):
        place = path.split("/")[0].removesuffix(".py")
        if path.endswith(".md"):
            page = next((page for page in PAGES if path.startswith(page)), "other pages")
            counts[page, "words"] += len(text.split())
        elif (path.endswith(OTHER_CODE) and path != "budgets.toml") or path.startswith("docs/_extensions"):
            counts["other code", "lines"] += sum(bool(line.strip()) for line in text.splitlines())
        elif path.endswith((".py", ".pyi")) and place in PLACES:
            found = count_python(text)
            found["modules"] = path.endswith(".py") and not path.endswith("__init__.py")
            for row in (place, *rooms_of(path)):
                for kind, number in found.items():
                    counts[row, kind] += number
    return counts


def main(commits: list[str]) -> None:
    """Print a table of Markdown: a row for each count, a column for each commit."""
    found = {commit or "now": measure(commit) for commit in (commits or [None])}
    rooms = sorted({row for counts in found.values() for row, _ in counts if row.startswith("tests/")})
    print(f"| place | count | {' | '.join(found)} |")
    print("|---" * (2 + len(found)) + "|")
    for place in ("product", *PLACES, *rooms, "other code", *PAGES, "other pages"):
        for kind in KINDS:
            numbers = [f"{each[place, kind]:,}" for each in found.values()]
            name = kind
            if kind == "tokens":
                name = "tokens a line"
                numbers = [f"{each[place, kind] / (each[place, 'lines'] or 1):.2f}" for each in found.values()]
            if any(each[place, kind] for each in found.values()):
                print(f"| {place} | {name} | {' | '.join(numbers)} |")


if __name__ == "__main__":
    main(sys.argv[1:])
