"""Write rows of text in columns, for a terminal or in Markdown."""

from __future__ import annotations

from typing import TextIO

LEAST = 12  # characters to which a first column is cut


def print_columns(
    rows: list[tuple[str, ...]], file: TextIO | None = None, width: int | None = None, *, markdown: bool = False
) -> None:
    """Print rows in columns, the first aligned to the left and the others to the right.

    Args:
        rows: header and rows.
        file: where to; None: stdout.
        width: number of characters of a line. The first column is cut where that helps; None: nothing is cut.
        markdown: print a Markdown table instead, which is never cut.
    """
    if markdown:
        print(*_to_markdown(rows), sep="\n", file=file)
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if width is not None:
        rest_of_line = sum(widths[1:]) + 2 * len(widths[1:])
        widths[0] = min(widths[0], max(width - rest_of_line, LEAST))
    for whole, *rest in rows:
        first = whole if len(whole) <= widths[0] else f"{whole[: widths[0] - 1]}…"
        cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        print("  ".join([first.ljust(widths[0]), *cells]).rstrip(), file=file)


def _to_markdown(rows: list[tuple[str, ...]]) -> list[str]:
    """Return the lines of a Markdown table."""
    header, *body = [f"| {' | '.join(row)} |" for row in rows]
    return [header, "|" + "---|" * len(rows[0]), *body]
