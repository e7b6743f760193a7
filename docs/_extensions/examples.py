"""Show each example and notebook as a page of its own, and lead links to examples there."""

import json
import re
from pathlib import Path

from sphinx.application import Sphinx

EXAMPLES = Path(__file__).parents[2] / "examples"
LANGUAGES = {".py": "python", ".toml": "toml"}
OF_GALLERY = re.compile(r"^\[`\w+\.py`\]\(\.\./\.\.(/examples/gallery/\w+\.py)\)$", re.MULTILINE)  # a line of its own
SHOWN = "```{literalinclude} ../..\\1\n:language: python\n```"


def write_pages(app: Sphinx) -> None:
    """Write a page for each script of the folder, one for each package in it, and one for each notebook."""
    folder = Path(app.srcdir) / "examples"
    for notebook in sorted((EXAMPLES / "notebooks").glob("*.ipynb")):
        write_page(folder / f"notebook_{notebook.stem}.myst", to_markdown(notebook.read_text(encoding="utf-8")))
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
        write_page(folder / f"{example.stem}.rst", "\n".join(lines) + "\n")


def write_page(page: Path, text: str) -> None:
    """Write a page, unless it is there already."""
    if not page.is_file() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def to_markdown(notebook: str) -> str:
    """Return the cells of a notebook as a page: texts as they are, programs as blocks, outputs left out."""
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(notebook)["cells"]]
    return "\n\n".join(text if kind == "markdown" else f"```python\n{text}\n```" for kind, text in cells) + "\n"


def lead_links(text: str) -> str:
    """Lead links to examples and packages to their pages, and links between docs and the repository's root to pages."""
    text = re.sub(r"\]\((?:\.\./)*examples/notebooks/(\w+)\.ipynb\)", r"](/examples/notebook_\1.myst)", text)
    text = re.sub(r"\]\((?:\.\./)*examples/(\w+)(?:\.py|/[\w./]*)?\)", r"](/examples/\1.rst)", text)
    text = text.replace("](../../graph_bandit_cli/main.py)", "](/reference/graph-bandit.rst)")
    text = re.sub(r"\]\((?:\.\./)+(\w+)(?:/__init__)?\.py\)", r"](/reference/\1.rst)", text)
    text = re.sub(r"\]\((?:\.\./)*(CONTRIBUTING|CHANGELOG)\.md", lambda match: f"](/{match[1].lower()}.md", text)
    return text.replace("](docs/", "](/")


def read_page(app: Sphinx, page: str, content: list[str]) -> None:
    """Lead the links of a page, and show the scripts of the gallery in the place of theirs."""
    content[0] = lead_links(OF_GALLERY.sub(SHOWN, content[0]))


def read_included(app: Sphinx, path: Path, page: str, content: list[str]) -> None:
    """Lead the links of a file that a page includes."""
    content[0] = lead_links(content[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all of it."""
    app.add_source_suffix(".myst", "markdown")  # of pages that are not in the repository, whose pages are .md
    app.connect("builder-inited", write_pages)
    app.connect("source-read", read_page)
    app.connect("include-read", read_included)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
