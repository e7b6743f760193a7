"""Provide columns of text, colours, templates and encoded figures for all pages, with fast imports."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure

# Okabe and Ito (2008): colour-blind readers can distinguish them. Random play is always grey.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", ":", "-.")
STYLE: dict[Any, Any] = {  # matplotlib declares 300 literal keys
    "font.family": "DejaVu Sans",
    "font.size": 13,
    "axes.titlesize": 14,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "legend.frameon": False,
    "legend.fontsize": 12,
}


def print_columns(rows: list[tuple[str, ...]], file: TextIO | None = None, *, markdown: bool = False) -> None:
    """Print rows in columns, the first aligned to the left and the others to the right.

    Args:
        rows: header and rows.
        file: output file. None prints to stdout.
        markdown: print a Markdown table instead.
    """
    if markdown:
        header, *body = (f"| {' | '.join(row)} |" for row in rows)
        print(header, "|" + "---|" * len(rows[0]), *body, sep="\n", file=file)
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        print("  ".join([first.ljust(widths[0]), *cells]).rstrip(), file=file)


def templates(room: str = "graph_bandit_lab.reports") -> Environment:
    """Return the templates of a package, which may extend those of reports. All values in them are escaped."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loaders = [PackageLoader(package, ".") for package in dict.fromkeys((room, "graph_bandit_lab.reports"))]
    return Environment(loader=ChoiceLoader(loaders), autoescape=True, undefined=StrictUndefined, trim_blocks=True)


def to_png(figure: Figure) -> bytes:
    """Draw a figure as PNG."""
    picture = io.BytesIO()
    figure.savefig(picture, dpi=160 if figure.get_figheight() < 12 else 110, format="png")
    return picture.getvalue()


def to_svg(figure: Figure) -> str:
    """Draw a figure as an `<svg>` element, with equal bytes for equal figures."""
    import matplotlib as mpl

    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "graph-bandit"}):  # without it, parts of the drawing have random names
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]
