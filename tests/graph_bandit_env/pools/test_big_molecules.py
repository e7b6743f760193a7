"""RDKit is asked only about molecules that it can read in a moment."""

import pytest
from rdkit import Chem

from graph_bandit_env import canonical_smiles
from graph_bandit_env.pools import smiles_problem
from graph_bandit_env.pools.molecule_parser import ATOM

GIANTS = ("C" * 612, "C" * 30_000, "C(" * 50_000, "c1ccc(cc1)" * 2000 + "C", "[13CH4]." * 5000 + "C", "[2H]" * 9999)


@pytest.mark.parametrize("smiles", GIANTS, ids=lambda smiles: smiles[:12])
def test_giants_are_refused_before_rdkit_hangs_or_dies(smiles, monkeypatch):
    monkeypatch.setattr(Chem, "MolFromSmiles", lambda text: pytest.fail("asked"))
    assert canonical_smiles(smiles) == ""
    problem = smiles_problem(smiles)
    assert "more than" in problem
    assert len(problem) < 200


@pytest.mark.parametrize(
    "smiles",
    [
        "CC(=O)Nc1ccc(O)cc1",
        "ClC(Br)I",
        "[Na+].[O-]C(=O)c1cc[nH]c1",
        "[H]C([H])([H])[H]",
        "[2H]C([H])([H])Cl",
        "N[C@@H](C)C(=O)O",
        "*CC*",
        "[Pt](Cl)(Cl)(N)N",
        "c1cscc1OP(=O)(O)OB(O)O",
        "[Sc+3].[Cs+].[Br-]",
        "C1CC%12C1CC%12",
        "CCO |$Cl;Br;C$|",
    ],
)
def test_atoms_are_counted_as_rdkit_counts_them(smiles):
    assert len(ATOM.findall(smiles.split()[0])) == Chem.MolFromSmiles(smiles).GetNumAtoms()


@pytest.mark.parametrize("smiles", ["CC O", "C\tO", "CC\nO", "CCO ethanol", "CC\u00a0O"])
def test_a_molecule_is_not_cut_off_at_a_blank(smiles):
    assert canonical_smiles(smiles) == ""
    assert smiles_problem(smiles) == f"expected a SMILES without blanks. Got {smiles!r}."
    assert canonical_smiles(f" {smiles[0]} ") == "C"
