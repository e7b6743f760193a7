"""Show each example as a page of its own, and lead links to examples there."""

import re
from pathlib import Path

from sphinx.application import Sphinx

EXAMPLES = Path(__file__).parents[2] / "examples"
LANGUAGES = {".py": "python", ".toml": "toml"}


def write_pages(app: Sphinx) -> None:
    """Write a page for each script of the folder, and one for each package in it."""
    folder = Path(app.srcdir) / "examples"
    for example in sorted(EXAMPLES.iterdir()):
        if example.suffix != ".py" and not (example / "pyproject.toml").is_file():
            continue
        lines = [example.name, "=" * len(example.name), ""]
        if example.is_file():
            lines += [f".. literalinclude:: ../../examples/{example.name}", "   :language: python"]
        else:
            lines = [f".. include:: ../../examples/{example.name}/README.md", "   :parser: myst_parser.sphinx_"]
            for path in sorted(path for path in example.iterdir() if path.suffix in LANGUAGES):
                lines += ["", f".. literalinclude:: ../../examples/{example.name}/{path.name}"]
                lines += [f"   :language: {LANGUAGES[path.suffix]}", f"   :caption: {path.name}"]
        page, text = folder / f"{example.stem}.rst", "\n".join(lines) + "\n"
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def lead_links(text: str) -> str:
    """Lead links to examples to their pages, and links between this folder and the root of the repository to pages."""
    text = re.sub(r"\]\((?:\.\./)*examples/(\w+)(?:\.py|/[\w./]*)?\)", r"](/examples/\1.rst)", text)
    text = re.sub(r"\]\((?:\.\./)*(CONTRIBUTING|CHANGELOG)\.md", lambda match: f"](/{match[1].lower()}.md", text)
    return text.replace("](docs/", "](/")


def read_page(app: Sphinx, page: str, content: list[str]) -> None:
    """Lead the links of a page."""
    content[0] = lead_links(content[0])


def read_included(app: Sphinx, path: Path, page: str, content: list[str]) -> None:
    """Lead the links of a file that a page includes."""
    content[0] = lead_links(content[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all of it."""
    app.connect("builder-inited", write_pages)
    app.connect("source-read", read_page)
    app.connect("include-read", read_included)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
