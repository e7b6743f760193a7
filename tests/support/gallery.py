"""Draw the pictures of the gallery, each by its script in examples/gallery.

    PYTHONPATH=tests python -m support.gallery

draws all of them into docs/pictures/gallery; names of scripts draw these alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from PIL import Image

from support import ROOT

SCRIPTS = tuple(sorted((ROOT / "examples" / "gallery").glob("*.py")))
PICTURES = ROOT / "docs" / "pictures" / "gallery"
COLORS = 96  # of a stored picture, which halves its size and cannot be seen


def draw(script: Path, folder: Path) -> Path:
    """Run a script in a folder, with the look of the gallery, and return the picture of its name that it writes."""
    look = {"MATPLOTLIBRC": str(script.parent), "MPLBACKEND": "agg", "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", str(script)]
    subprocess.run(command, cwd=folder, env={**os.environ, **look}, check=True, stdout=subprocess.DEVNULL)
    (picture,) = folder.glob(f"{script.stem}.*")
    if picture.suffix == ".png":
        with Image.open(picture) as image:
            small = image.convert("RGB").quantize(COLORS)
        small.save(picture, optimize=True)
    return picture


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for each in SCRIPTS:
        if each.stem in sys.argv[1:] or not sys.argv[1:]:
            print(draw(each, PICTURES))
