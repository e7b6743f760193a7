"""Each script of the gallery draws a picture, and the page shows it."""

import pytest
from support import ROOT
from support.pictures import GALLERY, SCRIPTS, draw_script

PAGE = (ROOT / "docs" / "examples" / "gallery.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_script_draws_the_picture_that_the_page_shows(name, tmp_path):
    picture = draw_script(name, tmp_path)
    assert (GALLERY / picture.name).is_file()
    assert f"](../pictures/gallery/{picture.name})" in PAGE
    assert f"(../../examples/gallery/{name}.py)" in PAGE
