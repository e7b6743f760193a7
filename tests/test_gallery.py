"""Each script of the gallery draws a picture, and the page shows it."""

import pytest
from support import ROOT
from support.gallery import PICTURES, SCRIPTS, draw

PAGE = (ROOT / "docs" / "examples" / "gallery.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_draws_the_picture_that_the_page_shows(script, tmp_path):
    picture = draw(script, tmp_path)
    assert (PICTURES / picture.name).is_file()
    assert f"](../pictures/gallery/{picture.name})" in PAGE
    assert f"(../../examples/gallery/{script.name})" in PAGE
