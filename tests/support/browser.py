"""A real browser, and what every page owes those who use it."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
NONE = (
    "Expected Chromium. Got none on PATH, in $CHROMIUM, or of Playwright's. Install it by `python -m playwright "
    "install chromium`, by `apt-get install chromium`, or set CHROMIUM to the program."
)
PATIENCE = 40_000.0  # milliseconds; a machine may have much else to do
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 420, "height": 900}
REFUSED = "the server responded with a status of 4"  # which the browser says of pages that refuse a form in words, too
FAULTS = (Path(__file__).parent / "faults_of_a_page.js").read_text(encoding="utf-8")


def find_chromium(playwright):
    """Return the program of Chromium; None if there is none."""
    programs = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES), playwright.chromium.executable_path]
    return next((program for program in programs if program and Path(program).exists()), None)


@contextmanager
def browsing():
    """Yield a browser for a `with` block.

    Raises:
        AssertionError: if there is none. A test that needs one is never left out.
    """
    with sync_playwright() as playwright:
        program = find_chromium(playwright)
        assert program, NONE
        browser = playwright.chromium.launch(executable_path=program)
        yield browser
        browser.close()


class Visitor:
    """A person at a browser of their own.

    Args:
        browser: the browser.
        link: what they open first.
    """

    def __init__(self, browser, link):
        self._context = browser.new_context(viewport=WIDE)
        self._context.set_default_timeout(PATIENCE)
        self.said = []
        self.page = self._context.new_page()
        self.page.on("console", lambda message: self._hear(message.type, message.text))
        self.page.on("pageerror", lambda error: self._hear("error", str(error)))
        self.page.goto(link)

    def _hear(self, kind, text):
        if kind in ("error", "warning") and REFUSED not in text:
            self.said.append(text)

    def look(self, name):
        """Assert that a page fits on a telephone, that a screen reader can tell it, and that no script has failed.

        Args:
            name: of its picture, which is kept if $GRAPH_BANDIT_SCREENSHOTS names a folder.
        """
        page = self.page
        page.wait_for_load_state()  # its text may be there before its style sheet
        for size in (WIDE, NARROW):
            page.set_viewport_size(size)
            faults = page.evaluate(FAULTS)
            if folder := os.environ.get("GRAPH_BANDIT_SCREENSHOTS"):
                page.wait_for_timeout(600)  # for the drawings, which are loaded when they are near
                page.screenshot(path=Path(folder) / f"{name}-{size['width']}.png", full_page=True)
            assert not faults, f"{name}, {size['width']} px: {faults}"
        page.set_viewport_size(WIDE)
        assert not self.said


def field_of(page, identifier):
    """Return the field for the result of a molecule."""
    return page.locator(f'[data-tell][data-id="{identifier}"]')


def card_of(page, identifier):
    """Return the card of a suggestion."""
    return page.locator(f'[id="card-{identifier}"]')


def press(page, name):
    """Press a button."""
    page.get_by_role("button", name=name).click()


def said(page, text):
    """Wait until the page says something."""
    page.locator("#said", has_text=text).wait_for()
