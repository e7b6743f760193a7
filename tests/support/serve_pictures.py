"""Draw the pictures of docs/guides/serve.md by a real browser: PYTHONPATH=.:tests python -m support.serve_pictures."""

import csv
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from rdkit import Chem
from rdkit.Chem.QED import qed

from graph_bandit_cli.main import main
from support import ROOT
from support.browser import Visitor, browsing, card_of, field_of, heading, press, save
from support.served import Running

WIDTH, COLORS = 900, 200  # pixels, and colours of a picture
SETTLED = 1500  # milliseconds, in which drawings are loaded


class Camera:
    """Takes pictures of a page.

    Args:
        out: folder of the pictures.
    """

    def __init__(self, out):
        self._out = out

    def take(self, page, name, height, top=0):
        """Keep a part of a page, as wide as it is."""
        page.mouse.move(0, 0)
        page.wait_for_timeout(SETTLED)
        path = self._out / f"serve-{name}.png"
        clip = {"x": 0, "y": top, "width": WIDTH, "height": height}
        page.screenshot(path=path, full_page=True, clip=clip)
        Image.open(path).convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(path, optimize=True)


def ids_on_cards(page):
    """Return the ids of the suggestions that have no result yet."""
    fields = page.query_selector_all('li input[name^="value-0:"]')
    return [field.get_attribute("name").split(":", 1)[1] for field in fields]


def play(visitor, folder, camera):
    """Start a campaign, play two rounds, and take a picture of each kind of page on the way."""
    page = visitor.page
    page.set_viewport_size({"width": WIDTH, "height": 640})
    with (folder / "pool.csv").open(newline="", encoding="utf-8") as file:
        smiles = {row["id"]: row["smiles"] for row in csv.DictReader(file)}

    def measure(identifier):
        return f"{qed(Chem.MolFromSmiles(smiles[identifier])):.3f}"

    with (folder / "pool.csv").open("a", encoding="utf-8") as file:
        file.write("lib-9999,C1CC(C\n")
    page.get_by_role("link", name="New campaign").click()
    page.get_by_label("File").set_input_files(folder / "pool.csv")
    press(page, "Look at it")
    page.get_by_label("Name of the campaign").fill("Drug-likeness")
    page.get_by_label("Leave out the rows").check()
    page.get_by_label("Goal 1").fill("qed")
    page.get_by_label("Table with").set_input_files(folder / "measured.csv")
    page.get_by_label("How many to").fill("4")
    camera.take(page, "new", 880)
    press(page, "Start the campaign")
    heading(page, "Round 1")
    for number in (1, 2):
        values = {name: measure(name) for name in ids_on_cards(page)}
        if number == 1:
            values[list(values)[-1]] = "failed"
        save(page, values)
        page.locator("table").get_by_text(f"after round {number}").first.wait_for()
        press(page, "Suggest what to measure next")
        heading(page, f"Round {number + 1}")
    camera.take(page, "campaign", 730)
    first, second, third, *_ = ids_on_cards(page)
    field_of(page, first).fill(measure(first))
    field_of(page, second).fill(">0.8")
    card_of(page, first).get_by_text("Why", exact=True).click()
    card_of(page, second).get_by_text("Not this one").click()
    card_of(page, second).get_by_label("Reason").fill("not in stock")
    card_of(page, second).get_by_label("Your name").first.fill("Ann")
    top = page.get_by_role("heading", name="Round 3").bounding_box()["y"] + page.evaluate("scrollY")
    camera.take(page, "round", 1050, top - 15)
    other = visitor.window(page.url)
    save(other, {third: measure(third)})
    other.locator("table").get_by_text("after round 3").first.wait_for()
    press(page, "Save the results typed above")
    heading(page, "Changed meanwhile")
    camera.take(page, "changed", 345)
    press(page, "Do it all the same")
    heading(page, "Round 3")
    page.get_by_role("link", name="Predictions of all").click()
    page.get_by_label("Sort by").select_option("predicted_qed")
    page.get_by_label("largest first").check()
    page.get_by_label("Substructure").fill("C(=O)N")
    press(page, "Show")
    page.wait_for_load_state()
    camera.take(page, "predictions", 640)


def draw(out):
    """Draw the pictures into a folder."""
    with TemporaryDirectory() as name, browsing() as browser:
        folder = Path(name)
        if main(["library", "--property", "qed", "--out", str(folder)]):
            raise RuntimeError("Expected the example library. The command has failed.")
        (folder / "served").mkdir()
        running = Running(folder / "served")
        try:
            link = f"http://127.0.0.1:{running.port}/enter?token={running.tokens[0]}"
            play(Visitor(browser, link), folder, Camera(out))
        finally:
            running.stop()


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures")
