"""Draw the pictures of README.md by the commands that it shows, and keep in each what its command printed.

PYTHONPATH=tests python -m support.readme
"""

from __future__ import annotations

import io
import os
import platform
import re
import shlex
import subprocess
import sys
from pathlib import Path

from PIL import Image, PngImagePlugin

from support import ROOT
from support.browser import browsing

PICTURES = {
    "demo": ROOT / "docs" / "pictures" / "regret.png",
    "suggest": ROOT / "docs" / "pictures" / "suggestions.png",
}
START = "import sys; from graph_bandit_cli.main import main; sys.exit(main())"
PAGE_WIDTH, MARGIN = 1120, 15  # CSS pixels: three cards a row
ROW = re.compile(r"(\| )?([a-z]+-(ucb|ts)|random|\d) +.*\d")
COLORS = 128  # of a stored picture, which halves its size and cannot be seen


def commands_of(target: str) -> list[list[str]]:
    """Return the commands that make runs for a target and for the files that it needs."""
    told = subprocess.run(["make", "-n", "-B", target], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = told.replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if "/graph-bandit " in line]


def play(target: str, folder: Path) -> str:
    """Run the commands of a target in a folder, and return what the last one printed."""
    for arguments in commands_of(target):
        program = [sys.executable, "-W", "ignore", "-c", START, *arguments]
        here = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(program, cwd=folder, env=here, capture_output=True, text=True, check=True)
    return done.stdout


def look(page: Path) -> bytes:
    """Return a picture of the first row of cards on a page of suggestions."""
    with browsing() as browser:
        tab = browser.new_page(viewport={"width": PAGE_WIDTH, "height": 900}, device_scale_factor=2)
        tab.goto(page.as_uri())
        card = tab.locator(".card").first.bounding_box()
        top, height = card["y"] - MARGIN, card["height"] + 2 * MARGIN
        return tab.screenshot(clip={"x": 0, "y": top, "width": PAGE_WIDTH, "height": height}, full_page=True)


def draw(target: str, folder: Path) -> None:
    """Draw the picture of a target, and keep in it what its command printed, and on which processor."""
    told = PngImagePlugin.PngInfo()
    told.add_itxt("printed", play(target, folder))
    told.add_itxt("processor", processor())
    drawn = look(folder / "runs/molecules/suggestions.html") if target == "suggest" else None
    source = io.BytesIO(drawn) if drawn else folder / "runs/demo/regret.png"
    with Image.open(source) as image:
        image.convert("RGB").quantize(COLORS).save(PICTURES[target], optimize=True, pnginfo=told)


def kept_in(target: str) -> tuple[str, bool]:
    """Return what the command of a picture had printed, and whether that was on a processor as this one."""
    with Image.open(PICTURES[target]) as image:
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
    import tempfile

    for name in PICTURES:
        with tempfile.TemporaryDirectory() as folder:
            draw(name, Path(folder))
