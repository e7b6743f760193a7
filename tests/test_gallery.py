"""The gallery: each script draws its picture in twenty lines, and the page shows both."""

import ast
import itertools
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image
from support import ROOT
from support.gallery import PICTURES, SCRIPTS, draw

PAGE = (ROOT / "docs" / "examples" / "gallery.md").read_text(encoding="utf-8")
LINES = 20  # beneath the imports
BYTES = 60_000
ALIKE = 0.9  # correlation of darkness: other processors round differently, and fonts may differ
GRID = (60, 40)

every_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)


def picture_of(script):
    (picture,) = PICTURES.glob(f"{script.stem}.*")
    return picture


def alike(one, other):
    """Correlate where two pictures are dark."""
    with Image.open(one) as first, Image.open(other) as second:
        dark = [255.0 - np.asarray(each.convert("L").resize(GRID), dtype=float).ravel() for each in (first, second)]
    return np.corrcoef(dark)[0, 1]


def size_of(picture):
    with Image.open(picture) as image:
        return image.size


def curves_of(picture):
    """How many lines and discs an SVG has."""
    return sum(element.tag.endswith(("}path", "}ellipse")) for element in ET.parse(picture).iter())


def test_there_are_twelve_and_nothing_else():
    assert len(SCRIPTS) == 12
    assert {path.stem for path in PICTURES.iterdir()} == {script.stem for script in SCRIPTS}


@every_script
def test_script_draws_the_picture_that_the_page_shows(script, tmp_path):
    drawn, shown = draw(script, tmp_path), picture_of(script)
    assert drawn.name == shown.name
    assert [path.name for path in tmp_path.iterdir()] == [drawn.name]
    if drawn.suffix == ".svg":
        assert curves_of(drawn) == pytest.approx(curves_of(shown), rel=0.2)
    else:
        assert size_of(drawn) == pytest.approx(size_of(shown), abs=4)
        assert alike(drawn, shown) > ALIKE


def test_pictures_of_two_scripts_are_not_alike():
    pictures = [path for path in map(picture_of, SCRIPTS) if path.suffix == ".png"]
    assert max(alike(*pair) for pair in itertools.combinations(pictures, 2)) < ALIKE - 0.1


@every_script
def test_script_has_at_most_twenty_lines_beneath_its_imports(script):
    text = script.read_text(encoding="utf-8")
    _, *statements = ast.parse(text).body  # its docstring comes first
    first = next(one for one in statements if not isinstance(one, ast.Import | ast.ImportFrom))
    lines = [line for line in text.splitlines()[first.lineno - 1 :] if line.strip()]
    assert 10 <= len(lines) <= LINES


@every_script
def test_picture_is_small(script):
    assert picture_of(script).stat().st_size < BYTES


@every_script
def test_page_shows_the_picture_and_leads_to_its_lines(script):
    image = re.search(rf"^!\[(.{{20,}})\]\(\.\./pictures/gallery/{picture_of(script).name}\)\n\n", PAGE, re.MULTILINE)
    assert image, "no picture with a description"
    assert f"\n[`{script.name}`](../../examples/gallery/{script.name})\n" in PAGE
