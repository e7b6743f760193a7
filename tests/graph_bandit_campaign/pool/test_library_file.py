"""Libraries of products in TOML files, with the tables of blocks that they name."""

import pytest
from support.links import make_link

from graph_bandit_campaign import read_product_library

LIBRARY = """
[[reactions]]
name = "amide"
smarts = "[#6:1]C(=O)[OH].[NH2:2][#6:3]>>[#6:1]C(=O)[N:2][#6:3]"
slots = [
  {name = "acid", blocks = "acids.smi"},
  {name = "amine", blocks = "amines.csv", price = "price", forbid = ["[Br]"]},
]
"""
ACIDS = "CC(=O)O A1\nOC(=O)CC(=O)O A2\nCCO A3\nnonsense A4\nOC(C)=O A5\n"
AMINES = "id,smiles,price\nB1,CN,2\nB2,NCCO,3.5\nB3,NCCBr,1\nB4,NCCC,\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "acids.smi").write_text(ACIDS)
    (tmp_path / "amines.csv").write_text(AMINES)
    (tmp_path / "library.toml").write_text(LIBRARY)
    return tmp_path


def test_blocks_are_read_and_what_is_left_out_is_told(folder):
    library, remarks = read_product_library(folder / "library.toml")
    acids, amines = library.parts[0].slots
    assert (acids.choices, acids.spelt) == (("A1", "A2"), ["CC(=O)O", "O=C(O)CC(=O)O"])
    assert (amines.choices, amines.prices.tolist()) == (("B1", "B2"), [2.0, 3.5])
    assert len(library) == 4
    assert [remark.removeprefix("slot ") for remark in remarks] == [
        "`acid` of `amide`: 1 bad rows left out, the first because RDKit reads no molecule from 'nonsense'.",
        "`acid` of `amide`: 1 rows of equal blocks merged",
        "`acid` of `amide`: 1 blocks left out, which cannot react there",
        "`acid` of `amide`: 1 blocks can react at several places, so their products may be ambiguous",
        "`amine` of `amide`: 1 blocks left out, which have a forbidden substructure",
        "`amine` of `amide`: 1 blocks left out, which have no price of at least 0",
    ]


SPACE = """
slots = [
  {name = "acid", blocks = "acids.smi"},
  {name = "base", choices = ["KF", "NaH", ""]},
  {name = "heat", choices = [80, 20.0]},
]
forbid = [{heat = [80.0], base = ["NaH"]}]
"""


def test_slots_without_a_reaction_are_combined_but_for_forbidden_pairs(folder):
    (folder / "library.toml").write_text(SPACE)
    library, _ = read_product_library(folder / "library.toml")
    (part,) = library.parts
    assert [slot.kind for slot in part.slots] == ["structure", "category", "number"]
    assert len(library) == 18
    allowed = part.allows(library.blocks_of(range(18)))
    assert [library.id_of(k) for k in (~allowed).nonzero()[0]] == [f"A{k} | NaH | 80" for k in (1, 2, 3)]
    assert library.id_of(4) == "A1 | (none) | 20"
    assert [library.number_of(library.id_of(k)) for k in range(18)] == [*range(18)]
    assert library.number_of("OCC | KF | 80") is None


def test_a_product_is_found_by_a_further_name_of_its_block(folder):
    library, _ = read_product_library(folder / "library.toml")
    assert library.number_of("A5+B1") == library.number_of("A1+B1") == 0


def test_tables_elsewhere_are_refused_unless_they_are_allowed(folder):
    inner = folder / "inner"
    inner.mkdir()
    (inner / "amines.csv").write_text(AMINES)
    make_link(inner / "acids.smi", folder / "acids.smi")
    (inner / "library.toml").write_text(LIBRARY)
    with pytest.raises(ValueError, match="folder"):
        read_product_library(inner / "library.toml")
    assert len(read_product_library(inner / "library.toml", allow_outside=True)[0]) == 4


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('name = "acid"', 'nam = "acid"', "nam"),
        ("[[reactions]]", "[[", "library.toml"),
        ("[Br]", "[Br", "forbid"),
        ("[NH2:2]", "[NH2:2]([H])", "implicit"),
        ("acids.smi", "nobody.smi", "nobody.smi"),
        ('price = "price"', 'price = "cost"', "cost"),
        ('["NaH"]}', '["KH"]}', "KH"),
        ("heat = [80.0], ", "", "two slots"),
        ("[80, 20.0]", "[]", "blocks or choices"),
        ("slots = [\n", 'slots = [ {name = "more", blocks = "acids.smi"},', "slots"),
    ],
)
def test_files_that_cannot_be_used_are_refused(folder, old, new, field):
    (folder / "library.toml").write_text((LIBRARY if old in LIBRARY else SPACE).replace(old, new))
    with pytest.raises((ValueError, FileNotFoundError), match=field):
        read_product_library(folder / "library.toml")
