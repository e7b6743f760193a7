"""Salts, charged forms and tautomers have one parent, and the usual form is among the tautomers of the others."""

import pytest

from graph_bandit_campaign.pool.forms import parent_of, tautomers
from graph_bandit_env import canonical_smiles
from graph_bandit_env.pools import parent_smiles

MOLECULES = [
    ("CCN", "CC[NH3+].[Cl-]", "CCN.Cl"),
    ("CC(=O)O", "CC(=O)[O-].[Na+]", "CC(=O)[O-].[K+]", "CC(=O)O.O", "CC(=O)O[Na]"),
    ("C[Si](C)(C)O", "C[Si](C)(C)O[K]"),
    ("NCC(=O)O", "[NH3+]CC(=O)[O-]"),
    ("Oc1ccccn1", "O=c1cccc[nH]1"),
    ("Cc1c[nH]cn1", "Cc1cnc[nH]1"),
    ("CC(=O)CC(C)=O", "C/C(O)=C/C(C)=O"),
    ("C[C@H](N)C(=O)O", "C[C@H]([NH3+])C(=O)[O-]"),
    ("C", "C.[Na+]"),
    *(("C[C@@H](N)C(=O)O",), ("CC(N)C(=O)O",), ("C/C=C/C",), ("C/C=C\\C",), ("CO",), ("[2H]CO",), ("CCO",)),
    *(("CCN.NCCCO",), ("CC(C)=O",), ("CCC=O",), ("C[N+](C)(C)CC.[Br-]",), ("C[N+](C)(C)CC.[I-]",)),
    *(("C[C@H](N)CC |&1:1|",), ("C[C@H](N)CC",)),
]
"""The forms of each molecule, and molecules that have another parent than all others."""


@pytest.mark.parametrize("forms", MOLECULES)
def test_forms_of_a_molecule_have_one_parent_and_no_others_have_it(forms):
    canonical, parents = [*map(canonical_smiles, forms)], {parent_of(canonical_smiles(form)) for form in forms}
    others = {parent_of(canonical_smiles(form)) for those in MOLECULES if those != forms for form in those}
    assert len(parents) == 1
    assert parents.isdisjoint(others)
    usual = parent_smiles(canonical[0]).partition(" ")[0]
    assert all(usual in tautomers(form) for form in canonical)
