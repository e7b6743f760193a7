"""What is cited of this software is the same everywhere, and paper.md keeps to the form and bounds of JOSS.

The form: https://joss.readthedocs.io/en/latest/paper.html.
"""

import json
import re

import pytest
import yaml
from support import PROJECT, ROOT

SECTIONS = [
    "Summary",
    "Statement of need",
    "State of the field",
    "Software design",
    "Research impact statement",
    "AI usage disclosure",
    "Acknowledgements",
    "References",
]
FEWEST_WORDS, MOST_WORDS = 750, 1750
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
EVIDENCE = ROOT / "docs" / "evidence"
_, FRONT, BODY = re.split(r"(?m)^---\n", (ROOT / "paper.md").read_text(encoding="utf-8"), maxsplit=2)
TEXT = re.sub(r"<!--.*?-->", "", BODY, flags=re.DOTALL)
BIBLIOGRAPHY = (ROOT / "paper.bib").read_text(encoding="utf-8")
OURS = re.compile(r"https://github\.com/[^/\s]+/graph-bandit-env\b")


def numbers_of(text):
    """Return the numbers of a text as they are written, without signs."""
    return set(NUMBER.findall(text))


def rows_of_evidence(text):
    """Yield what each row of a table says was measured, and the page that its last cell names."""
    for measured, page in re.findall(r"(?m)^\|[^|\n]*\|([^|\n]*)\| *`([\w/]+\.md)` *\|$", text):
        yield measured.strip(), page


# --- The same everywhere


@pytest.fixture(scope="module")
def told():
    """Title, version, licence, authors and address, by the file that tells them."""
    paper = yaml.safe_load(FRONT)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    forms = ("*.md", "llms.txt", "*.toml", "docs/**/*.md", "docs/install/*", "examples/**/*.ipynb")
    files = [path for form in forms for path in ROOT.glob(form)]
    cited = (citation, citation["preferred-citation"])
    return {
        "title": [
            PROJECT["name"],
            *(one["title"] for one in (*cited, zenodo)),
            paper["title"].split(":")[0],
        ],
        "version": [PROJECT["version"], *(one["version"] for one in (*cited, zenodo))],
        "license": [PROJECT["license"], *(one["license"] for one in (*cited, zenodo))],
        "authors": [
            [author["name"] for author in PROJECT["authors"]],
            *([author["name"] for author in one["authors"]] for one in (*cited, paper)),
            [creator["name"] for creator in zenodo["creators"]],
        ],
        "keywords": [PROJECT["keywords"], citation["keywords"], zenodo["keywords"]],
        "year": [str(citation["preferred-citation"]["year"]), paper["date"].split()[-1]],
        "address": [
            PROJECT["urls"]["Repository"],
            *(one["repository-code"] for one in cited),
            *(address for file in files for address in OURS.findall(file.read_text(encoding="utf-8"))),
        ],
    }


@pytest.mark.parametrize("name", ["title", "version", "license", "authors", "keywords", "year", "address"])
def test_it_is_cited_in_the_same_way_everywhere(name, told):
    first, *others = told[name]
    assert first
    assert others == [first] * len(others)


# --- The form of JOSS


def test_the_paper_has_the_sections_of_joss_in_their_order():
    assert re.findall(r"(?m)^# (.+)$", TEXT) == SECTIONS


def test_the_paper_is_as_long_as_joss_asks():
    assert FEWEST_WORDS <= len(TEXT.split()) <= MOST_WORDS


def test_what_is_cited_is_listed_and_what_is_listed_is_cited():
    listed = re.findall(r"(?m)^@\w+\{(\w+),$", BIBLIOGRAPHY)
    assert len(set(listed)) == BIBLIOGRAPHY.count("@")
    assert set(re.findall(r"(?<![\w.])@(\w+)", TEXT)) == set(listed)


# --- Numbers


def test_numbers_of_the_paper_stand_in_the_pages_that_it_names():
    rows = list(rows_of_evidence(TEXT))
    strangers = {
        page: numbers_of(measured) - numbers_of((EVIDENCE / page).read_text(encoding="utf-8"))
        for measured, page in rows
    }
    assert not {page: numbers for page, numbers in strangers.items() if numbers}
