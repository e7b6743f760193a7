"""Numbers that are repeated elsewhere stand in the pages of evidence, next to the commands that print them."""

import re

from support import ROOT

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
EVIDENCE = ROOT / "docs" / "evidence"


def numbers_of(text):
    """Return the numbers of a text as they are written, without signs."""
    return set(NUMBER.findall(text))


def test_the_reproduction_has_no_numbers_of_its_own():
    """Those with a decimal point; the pages that it links have the commands that print them."""
    text = (EVIDENCE / "reproduction.md").read_text(encoding="utf-8")
    pages = {(EVIDENCE / link).resolve() for link in re.findall(r"\]\(([\w./]+\.md)", text)}
    assert EVIDENCE / "results" / "index.md" in pages
    known = set().union(*(numbers_of(page.read_text(encoding="utf-8")) for page in pages))
    prose = re.sub(r"(?m)\]\([^)]*\)|arXiv:\S+|Sections? [\d.]+( and [\d.]+)?|^#+ [\d.]+", " ", text)
    fractions = {number for number in numbers_of(prose) if "." in number}
    assert len(fractions) > 50
    assert not fractions - known


def test_a_number_with_a_thousands_comma_or_a_sign_is_one_number():
    assert numbers_of("1.6 [-5.6] of 4,177, 2 [+0.3,1]; 90 %") == {"1.6", "5.6", "4,177", "2", "0.3", "1", "90"}
