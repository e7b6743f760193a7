"""Load templates, and turn figures into text or bytes, for every page."""

from __future__ import annotations

import io

import matplotlib as mpl
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure


def templates(room: str = "graph_bandit_lab.reports") -> Environment:
    """Return the templates of a room, which may extend those of reports. All values in them are escaped."""
    loader = ChoiceLoader(
        [PackageLoader(package, ".") for package in dict.fromkeys((room, "graph_bandit_lab.reports"))]
    )
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)


def to_png(figure: Figure) -> bytes:
    """Draw a figure as PNG."""
    picture = io.BytesIO()
    figure.savefig(picture, dpi=160 if figure.get_figheight() < 12 else 110, format="png")
    return picture.getvalue()


def to_svg(figure: Figure) -> str:
    """Draw a figure as an `<svg>` element, the same to the byte for equal figures."""
    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "graph-bandit"}):  # without it, parts of the drawing have random names
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]
