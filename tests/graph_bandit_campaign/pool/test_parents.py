import pytest

from graph_bandit_campaign.pool.forms import Parents
from graph_bandit_env import canonical_smiles

SAME = [
    ("CCN", "CC[NH3+].[Cl-]"),
    ("CCN", "CCN.Cl"),
    ("CC(=O)O", "CC(=O)[O-].[Na+]"),
    ("CC(=O)O", "CC(=O)O.O"),
    ("CC(=O)[O-].[Na+]", "CC(=O)[O-].[K+]"),
    ("NCC(=O)O", "[NH3+]CC(=O)[O-]"),
    ("Oc1ccccn1", "O=c1cccc[nH]1"),
    ("Cc1c[nH]cn1", "Cc1cnc[nH]1"),
    ("CC(=O)CC(C)=O", "C/C(O)=C/C(C)=O"),
    ("C[C@H](N)C(=O)O", "C[C@H]([NH3+])C(=O)[O-]"),
    ("C.[Na+]", "C"),
]
OTHER = [
    ("C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O"),
    ("C[C@H](N)C(=O)O", "CC(N)C(=O)O"),
    ("C/C=C/C", "C/C=C\\C"),
    ("CO", "[2H]CO"),
    ("CCN", "CCO"),
    ("CCN.NCCCO", "CCN"),
    ("CC(C)=O", "CCC=O"),
    ("C[N+](C)(C)CC.[Br-]", "C[N+](C)(C)CC.[I-]"),
    ("C[C@H](N)CC |&1:1|", "C[C@H](N)CC"),
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_salts_charges_and_tautomers_have_one_parent(first, second):
    first, second = canonical_smiles(first), canonical_smiles(second)
    assert Parents([first, "CCCCCC"]).find(second) == [first]
    assert Parents([second]).are_equal(second, first)


@pytest.mark.parametrize(("first", "second"), OTHER)
def test_other_molecules_stereoisomers_and_isotopes_have_others(first, second):
    first, second = canonical_smiles(first), canonical_smiles(second)
    assert Parents([first]).find(second) == []
    assert not Parents([]).are_equal(first, second)
