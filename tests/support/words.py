"""Count foreign patterns of English in prose, now or at commits: PYTHONPATH=tests python -m support.words [COMMIT ...].

The patterns are the eleven of the style guide that a program can find. Code, tables of numbers and links do not count.
"""

from __future__ import annotations

import re
import sys
from collections import Counter

from support.pages import FENCE, INDENTED
from support.size import files_of

PATTERNS = {
    "clauses with what, who, whether": r"\b(?:what|who|whom|whatever|whoever|whether)\b(?![^.!?\n]*\?)",
    "of yours, of your own, of others": r"\bof (?:yours|others|(?:your|our|their|its|one's) own)\b",
    "semicolons": r";",
    "nobody, somebody, anybody": r"\b(?:no|some|any)body\b",
    "told": r"\btold\b",
    "less": r"\bless\b(?! (?:than|often|likely|time|memory|noise|noisy|certain|than))",
    "in the mean": r"\bin the mean\b",
    "where": r"(?:^|[.:] )where\b",
    "go on, what came": r"\b(?:go|goes|going|went|gone) on\b|\bwhat (?:has )?c[oa]me",
    "dear": r"\bdear(?:er|est)?\b",
    "too at the end, else": r", too\b|\belse\b",
}
PAGES = ("README.md", "docs/")
LEFT_OUT = ("docs/changelog.md", "docs/announcements/")


def prose_of(text: str) -> str:
    """Return a page without code, formulas, addresses of links and HTML."""
    text = re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$", " ", INDENTED.sub("", FENCE.sub("", text)), flags=re.DOTALL)
    return re.sub(r"`[^`\n]*`|\]\([^)]*\)|<[^>\n]*>|https?://\S+", " ", text)


def count(text: str) -> Counter[str]:
    """Return the hits of each pattern in a text."""
    return Counter({name: len(re.findall(rule, text, re.IGNORECASE | re.MULTILINE)) for name, rule in PATTERNS.items()})


def count_pages(commit: str | None = None) -> dict[str, Counter[str]]:
    """Return the words and the hits of each pattern by page, at a commit or in the working tree."""
    found = {}
    for path, text in files_of(commit):
        if path.endswith(".md") and path.startswith(PAGES) and not path.startswith(LEFT_OUT):
            found[path] = count(prose_of(text)) + Counter(words=len(text.split()))
    return found


def main(commits: list[str]) -> None:
    """Print two tables of Markdown: hits by pattern, and words and hits by page, with a column for each commit."""
    every = {commit or "now": count_pages(commit) for commit in (commits or [None])}
    print(f"| pattern | {' | '.join(every)} |{chr(10)}|---{'|---' * len(every)}|")
    for name in PATTERNS:
        print(f"| {name} | {' | '.join(str(sum(page[name] for page in each.values())) for each in every.values())} |")
    print(f"{chr(10)}| page: words, hits | {' | '.join(every)} |{chr(10)}|---{'|---' * len(every)}|")
    for path in sorted({path for each in every.values() for path in each}):
        pages = [each.get(path, Counter()) for each in every.values()]
        cells = [f"{page['words']:,}, {page.total() - page['words']}" if page else "" for page in pages]
        print(f"| {path} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(sys.argv[1:] and [commit if commit != "now" else None for commit in sys.argv[1:]])
