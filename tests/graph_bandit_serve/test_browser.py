"""People at a real browser, with the real command: from two files as they are to the best molecule."""

import re

import pytest
from openpyxl import Workbook
from support.browser import Visitor, browsing, card_of, field_of, press, said
from support.served import MOLECULES, NAMES, VALUES, Running

from graph_bandit_serve.campaigns.folder import key_of

LIBRARY = key_of("library/suggestions.campaign.json")


@pytest.fixture(scope="module")
def browser():
    with browsing() as browser:
        yield browser


@pytest.fixture
def sent(tmp_path):
    """A folder with a library and a workbook as people have them, with other names of columns and decimal commas."""
    folder = tmp_path / "sent"
    folder.mkdir()
    rows = [f"{name};{smiles};12,5" for name, smiles in zip(NAMES, MOLECULES.smiles, strict=True)]
    (folder / "library.csv").write_text("\n".join(["Compound;SMILES;Price", *rows, "bad;C(C;1"]))
    book = Workbook()
    book.active.append(["Plate of May", "by Ann"])
    sheet = book.create_sheet("plate")
    values = [[name, f"{VALUES[name]:.2f}".replace(".", ",")] for name in NAMES[:6]]
    for row in (["Name", "logP measured"], *values, ["mystery", "1,0"], [NAMES[7], "n.d."]):
        sheet.append(row)
    book.save(folder / "results.xlsx")
    return folder


@pytest.fixture
def command(tmp_path):
    """The command, which serves an empty folder."""
    (tmp_path / "served").mkdir()
    running = Running(tmp_path / "served")
    yield running
    assert "Traceback" not in running.stop()


@pytest.fixture
def ann(browser, command, sent):
    """Ann, who has started a campaign from the library."""
    ann = Visitor(browser, f"{command.address}/enter?token={command.tokens[0]}")
    page = ann.page
    page.get_by_label("Your name").fill("Ann")
    page.get_by_role("link", name="New campaign").click()
    page.wait_for_load_state()  # else a file may be chosen before the script is there
    page.locator("input[type=file]").set_input_files(sent / "library.csv")
    page.get_by_text(f"{len(NAMES)} molecules").wait_for()
    wanted = {"Measured quantity": "logP", "Compounds in a batch": "4", "Price:": "Price", "Budget": "60"}
    for label, text in wanted.items():
        page.get_by_label(label).first.fill(text)
    page.get_by_label("Results so far").select_option("file")
    ann.look("1-new")
    page.get_by_label("Properties, one a line").fill("mw&500")
    page.get_by_label("Leave it out").check()
    press(page, "Create the campaign")
    said(page, "mw&500")
    assert page.get_by_label("Budget").input_value() == "60"  # nothing that was typed is lost
    page.get_by_label("Properties, one a line").fill("mw<500")
    press(page, "Create the campaign")
    page.wait_for_url("**/campaigns/*")
    return ann


def results_of(command, name):
    return [each["value"] for each in command.state(LIBRARY)["measured"] if each["id"] == name]


def test_three_rounds_from_files_as_they_are_to_the_best_molecule(ann, command, sent):
    page = ann.page
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
    assert results_of(command, "m8") == [1.0]
    page.get_by_role("link", name="This batch").click()
    for number in (1, 2, 3):
        press(page, re.compile("Suggest the"))
        page.get_by_role("heading", name=f"Batch {number}").wait_for()
        for name in command.last(LIBRARY):
            field_of(page, name).fill(f"{VALUES[name]:.4f}".replace(".", ","))
            field_of(page, name).press("Enter")
            card_of(page, name).get_by_text("measured", exact=True).wait_for()
    ann.look("3-batch")
    measured = command.state(LIBRARY)["measured"]
    best = max((each["id"] for each in measured), key=VALUES.__getitem__)
    assert page.locator(".best bdi").inner_text() == best == max(VALUES, key=VALUES.get)
    assert {each["by"] for each in measured} == {"Ann"}

    name = command.last(LIBRARY)[0]
    field_of(page, name).fill("9.9")
    field_of(page, name).press("Enter")
    press(page, "Keep both")
    said(page, "Replicates")
    both = results_of(command, name)
    assert sorted(both) == [round(VALUES[name], 4), 9.9]
    press(page, f"Undo adding a result of {name}")
    said(page, "Undone")
    assert results_of(command, name) == [round(VALUES[name], 4)]
    press(page, f"Redo adding a result of {name}")
    said(page, "Done again")
    assert results_of(command, name) == both
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


def test_two_at_once_a_veto_and_a_pasted_column(ann, browser, command):
    page = ann.page
    press(page, "Invite a colleague")
    page.get_by_label("Their name").fill("Bob")
    press(page, "Make a link")
    bob = Visitor(browser, page.locator("dialog code").inner_text()).page
    press(page, "Close")
    page.get_by_role("link", name="This batch").click()
    press(page, "Suggest the first batch")
    page.get_by_role("heading", name="Batch 1").wait_for()
    refused = command.last(LIBRARY)[1]
    bob.get_by_role("link", name="library").click()
    card_of(bob, refused).get_by_role("button", name="Veto").click()
    bob.get_by_label("Why should it not be suggested?").fill("no stock")
    press(bob, "Save")
    for each in (bob, page):  # the other page renews itself
        card_of(each, refused).wait_for(state="detached")
    (veto,) = command.state(LIBRARY)["vetoed"]
    assert (veto["id"], veto["reason"], veto["by"]) == (refused, "no stock", "Bob")
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
    assert {each["id"] for each in command.state(LIBRARY)["measured"]} == {*waiting}
    page.get_by_label(f"Result of {waiting[0]}").fill("much")
    page.get_by_label(f"Result of {waiting[0]}").press("Enter")
    press(page, "Replace")
    said(page, "much")
    assert results_of(command, waiting[0]) == [round(VALUES[waiting[0]], 3)]
