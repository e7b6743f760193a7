"""Refuse a site that loads anything from another machine, or has links that lead nowhere within it.

    PYTHONPATH=tests python -m support.site site

lists what is wrong with the site that `make docs` has built.
"""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "img": "src", "source": "src", "iframe": "src", "link": "href", "object": "data"}
FOREIGN_STYLE = re.compile(r"""(?:url\(|@import)\s*["']?(?:https?:)?//[^"')]*""")


class Page(HTMLParser):
    """What a page loads, where it leads, and which anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Take in a tag."""
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if LOADS.get(tag, "") in values:
            self.loads.append(values[LOADS[tag]])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])


def find_problems(folder: Path) -> Iterator[str]:
    """Yield a line for each problem of a site."""
    paths = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]  # the theme has a template
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    for path, page in pages.items():
        for target in [*page.loads, *page.links]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loads and parts.scheme != "data":
                    yield f"{path.relative_to(folder)} loads {target}"
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if file not in pages and not file.exists():
                yield f"{path.relative_to(folder)} leads to {target}, which is not there"
            elif file in pages and parts.fragment and unquote(parts.fragment) not in pages[file].anchors:
                yield f"{path.relative_to(folder)} leads to {target}, an anchor that is not there"
    for path in sorted(folder.rglob("*.css")):
        yield from (
            f"{path.relative_to(folder)} loads {match.group()}"
            for match in FOREIGN_STYLE.finditer(path.read_text(encoding="utf-8"))
        )


if __name__ == "__main__":
    site = Path(sys.argv[1])
    problems = sorted(set(find_problems(site)))
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{site}: {len(list(site.rglob('*.html')))} pages, {len(problems)} problems.")
    sys.exit(bool(problems))
