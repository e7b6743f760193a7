"""People at a real browser, with the real command: from two files as they are to the best molecule."""

import json
import re
from contextlib import contextmanager

import pytest
from openpyxl import Workbook
from support.browser import Visitor, browsing, card_of, field_of, press, said
from support.served import MOLECULES, NAMES, VALUES, Running

ROUNDS = 3


@pytest.fixture(scope="module")
def browser():
    with browsing() as browser:
        yield browser


@contextmanager
def serving(folder):
    """Yield the first link of the command."""
    running = Running(folder)
    try:
        yield f"{running.address}/enter?token={running.tokens[0]}"
    finally:
        told = running.stop()
    assert "Traceback" not in told


@pytest.fixture
def sent(tmp_path):
    """A folder with a library and a workbook as people have them, with other names of columns and decimal commas."""
    folder = tmp_path / "sent"
    folder.mkdir()
    rows = [
        f"{name};{smiles};{10 + k % 7},5" for k, (name, smiles) in enumerate(zip(NAMES, MOLECULES.smiles, strict=True))
    ]
    (folder / "library.csv").write_text("\n".join(["Compound;SMILES;Price", *rows, "bad;C(C;1"]))
    book = Workbook()
    book.active.append(["Plate of May", "by Ann"])
    sheet = book.create_sheet("plate")
    for row in (["Name", "logP measured"], *([name, f"{VALUES[name]:.2f}".replace(".", ",")] for name in NAMES[:6])):
        sheet.append(row)
    for row in (["mystery", "1,0"], [NAMES[7], "n.d."]):
        sheet.append(row)
    book.save(folder / "results.xlsx")
    return folder


def state_of(folder):
    return json.loads((folder / "library" / "suggestions.campaign.json").read_text(encoding="utf-8"))


def results_of(folder, name):
    return [each["value"] for each in state_of(folder)["measured"] if each["id"] == name]


def create(visitor, sent):
    """Start a campaign from the library."""
    page = visitor.page
    page.get_by_role("link", name="New campaign").click()
    page.locator("input[type=file]").set_input_files(sent / "library.csv")
    page.get_by_text(f"{len(NAMES)} molecules").wait_for()
    page.get_by_label("Measured quantity").first.fill("logP")
    page.get_by_label("Compounds in a batch").fill("4")
    page.get_by_label("Price:").fill("Price")
    page.get_by_label("Budget").fill("60")
    page.get_by_label("Results so far").select_option("file")
    visitor.look("1-new")
    page.get_by_label("Properties, one a line").fill("mw&500")
    page.get_by_label("Leave it out").check()
    press(page, "Create the campaign")
    said(page, "mw&500")
    assert page.get_by_label("Budget").input_value() == "60"  # nothing that was typed is lost
    page.get_by_label("Properties, one a line").fill("mw<500")
    press(page, "Create the campaign")
    page.wait_for_url("**/campaigns/*")


def test_three_rounds_from_files_as_they_are_to_the_best_molecule(browser, tmp_path, sent):
    folder = tmp_path / "served"
    folder.mkdir()
    with serving(folder) as link:
        ann = Visitor(browser, link)
        page = ann.page
        assert "token" not in page.url
        page.get_by_label("Your name").fill("Ann")
        create(ann, sent)
        page.locator("input[type=file]").set_input_files(sent / "results.xlsx")
        page.get_by_label("Sheet").select_option("plate")
        page.get_by_label("Values of logP").select_option("logP measured")
        page.get_by_text("6 of 8 rows can be added").wait_for()
        assert page.get_by_label("logP of results.xlsx, sheet `plate`, row 9").input_value() == "n.d."
        ann.look("2-preview")
        page.get_by_label("Compound of results.xlsx, sheet `plate`, row 8").fill("m8")
        page.get_by_label("Add results.xlsx, sheet `plate`, row 8").check()
        press(page, "Add the checked rows")
        said(page, "7 results saved")
        assert results_of(folder, "m8") == [1.0]
        page.get_by_role("link", name="This batch").click()
        for number in range(1, ROUNDS + 1):
            press(page, re.compile("Suggest the"))
            page.get_by_role("heading", name=f"Batch {number}").wait_for()
            for name in [each["id"] for each in state_of(folder)["rounds"][-1]]:
                field_of(page, name).fill(f"{VALUES[name]:.4f}".replace(".", ","))
                field_of(page, name).press("Enter")
                card_of(page, name).get_by_text("measured", exact=True).wait_for()
        ann.look("3-batch")
        measured = {each["id"] for each in state_of(folder)["measured"]}
        assert (
            page.locator(".best bdi").inner_text()
            == max(measured, key=VALUES.__getitem__)
            == max(VALUES, key=VALUES.get)
        )
        assert {each["by"] for each in state_of(folder)["measured"]} == {"Ann"}

        name = state_of(folder)["rounds"][-1][0]["id"]
        field_of(page, name).fill("9.9")
        field_of(page, name).press("Enter")
        press(page, "Keep both")
        said(page, "Replicates")
        assert sorted(results_of(folder, name)) == [round(VALUES[name], 4), 9.9]
        press(page, f"Undo adding a result of {name}")
        said(page, "Undone")
        press(page, f"Redo adding a result of {name}")
        said(page, "Done again")
        press(page, f"Undo adding a result of {name}")
        said(page, "Undone")
        assert results_of(folder, name) == [round(VALUES[name], 4)]
        card_of(page, name).get_by_role("button", name="Comment").click()
        page.get_by_label("Comment", exact=True).fill("looks odd")
        press(page, "Save")
        card_of(page, name).get_by_text("looks odd").wait_for()
        card_of(page, name).get_by_role("button", name="Explain").click()
        page.get_by_text("Most similar compounds").wait_for()
        ann.look("4-explained")
        press(page, "Close")
        for tab, text in ("All candidates", "40 compounds"), ("Results", "paste a column"), ("History", "Last changes"):
            page.get_by_role("link", name=tab).click()
            page.get_by_text(text).wait_for()
            ann.look(f"5-{tab}")


def test_two_at_once_a_veto_and_a_pasted_column(browser, tmp_path, sent):
    folder = tmp_path / "served"
    folder.mkdir()
    with serving(folder) as link:
        ann = Visitor(browser, link)
        page = ann.page
        create(ann, sent)
        press(page, "Invite a colleague")
        page.get_by_label("Their name").fill("Bob")
        press(page, "Make a link")
        bob = Visitor(browser, page.locator("dialog code").inner_text())
        press(page, "Close")
        page.get_by_role("link", name="This batch").click()
        press(page, "Suggest the first batch")
        page.get_by_role("heading", name="Batch 1").wait_for()
        first = [each["id"] for each in state_of(folder)["rounds"][-1]]
        bob.page.get_by_role("link", name="library").click()
        card_of(bob.page, first[1]).get_by_role("button", name="Veto").click()
        bob.page.get_by_label("Why should it not be suggested?").fill("no stock")
        press(bob.page, "Save")
        card_of(bob.page, first[1]).wait_for(state="detached")
        card_of(page, first[1]).wait_for(state="detached")  # the other page renews itself
        (veto,) = state_of(folder)["vetoed"]
        assert (veto["id"], veto["reason"], veto["by"]) == (first[1], "no stock", "Bob")
        page.get_by_role("link", name="Results").click()
        waiting = [each.get_attribute("data-id") for each in page.locator("[data-tell]").all()]
        column = "\\n".join(f"{VALUES[name]:.3f}" for name in waiting)
        paste = f"""field => {{
            const data = new DataTransfer();
            data.setData("text", "{column}");
            field.dispatchEvent(new ClipboardEvent("paste", {{clipboardData: data, bubbles: true, cancelable: true}}));
        }}"""
        page.locator("[data-tell]").first.evaluate(paste)
        said(page, f"{len(waiting)} results saved")
        assert {each["id"] for each in state_of(folder)["measured"]} == {*waiting}
        page.get_by_label(f"Result of {waiting[0]}").fill("much")
        page.get_by_label(f"Result of {waiting[0]}").press("Enter")
        press(page, "Replace")
        said(page, "much")
        assert results_of(folder, waiting[0]) == [round(VALUES[waiting[0]], 3)]
