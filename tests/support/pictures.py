"""Draw the pictures of README.md by the commands that it shows, and those of the gallery by its scripts.

    PYTHONPATH=tests python -m support.pictures [name ...]

draws those that are named: `demo` and `suggest`, of README.md, and scripts of examples/gallery; by default all.
A picture of README.md keeps what its command printed.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image, PngImagePlugin

from support import ROOT
from support.browser import browsing

README = {"demo": ROOT / "docs/pictures/regret.png", "suggest": ROOT / "docs/pictures/suggestions.png"}
SCRIPTS = {script.stem: script for script in sorted((ROOT / "examples" / "gallery").glob("*.py"))}
GALLERY = ROOT / "docs" / "pictures" / "gallery"
START = "import sys; from graph_bandit_cli.main import main; sys.exit(main())"
PAGE_WIDTH, MARGIN = 1120, 15  # CSS pixels: three cards a row
ROW = re.compile(r"(\| )?([a-z]+-(ucb|ts)|random|\d) +.*\d")
COLORS = 128  # of a stored picture, which halves its size and cannot be seen


def start(arguments: list[str], folder: Path, **more: str) -> str:
    """Run Python in a folder, and return what it printed."""
    here = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    command = [sys.executable, "-W", "ignore", *arguments]
    return subprocess.run(command, cwd=folder, env=here, capture_output=True, text=True, check=True).stdout


def save(picture: Path, path: Path, **about: str) -> None:
    """Save a picture with few colors, and with texts about it."""
    told = PngImagePlugin.PngInfo()
    for name, text in about.items():
        told.add_itxt(name, text)
    with Image.open(picture) as image:
        image.convert("RGB").quantize(COLORS).save(path, optimize=True, pnginfo=told)


def draw_script(name: str, folder: Path) -> Path:
    """Run a script in a folder, with the look of the gallery, and return the picture of its name that it writes."""
    look = {"MATPLOTLIBRC": str(ROOT / "examples" / "gallery"), "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
    start([str(SCRIPTS[name])], folder, **look)
    (picture,) = folder.glob(f"{name}.*")
    if picture.suffix == ".png":
        save(picture, picture)
    return picture


def commands_of(target: str) -> list[list[str]]:
    """Return the commands that make runs for a target and for the files that it needs."""
    told = subprocess.run(["make", "-n", "-B", target], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = told.replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if "/graph-bandit " in line]


def play(target: str, folder: Path) -> str:
    """Run the commands of a target in a folder, and return what the last one printed."""
    return [start(["-c", START, *arguments], folder) for arguments in commands_of(target)][-1]


def look(page: Path, picture: Path) -> None:
    """Take a picture of the first row of cards on a page of suggestions."""
    with browsing() as browser:
        tab = browser.new_page(viewport={"width": PAGE_WIDTH, "height": 900}, device_scale_factor=2)
        tab.goto(page.as_uri())
        card = tab.locator(".card").first.bounding_box()
        clip = {"x": 0, "y": card["y"] - MARGIN, "width": PAGE_WIDTH, "height": card["height"] + 2 * MARGIN}
        tab.screenshot(clip=clip, full_page=True, path=picture)


def draw(target: str, folder: Path) -> None:
    """Draw the picture of a target, and keep in it what its command printed, and on which processor."""
    printed, picture = play(target, folder), folder / "runs/demo/regret.png"
    if target == "suggest":
        picture = folder / "page.png"
        look(folder / "runs/molecules/suggestions.html", picture)
    save(picture, README[target], printed=printed, processor=processor())


def kept_in(target: str) -> tuple[str, bool]:
    """Return what the command of a picture had printed, and whether that was on a processor as this one."""
    with Image.open(README[target]) as image:
        return image.text["printed"], image.text["processor"] == processor()


def processor() -> str:
    """Return the model of the processor, on which last bits depend."""
    told = Path("/proc/cpuinfo")
    models = re.findall(r"model name\s*: (.*)", told.read_text("utf-8")) if told.exists() else []
    return models[0] if models else platform.processor()


def rows_of(text: str) -> dict[str, list[str]]:
    """Return the words of the rows of a printed table, or of the same one in Markdown, by the first word of each."""
    rows = [re.findall(r"[\w.-]+", line) for line in text.splitlines() if ROW.match(line)]
    return {row[0]: row[1:] for row in rows}


if __name__ == "__main__":
    for each in sys.argv[1:] or [*README, *SCRIPTS]:
        with TemporaryDirectory() as scratch:
            if each in README:
                draw(each, Path(scratch))
            else:
                drawn = draw_script(each, Path(scratch))
                drawn.replace(GALLERY / drawn.name)
