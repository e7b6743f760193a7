"""Salts, charged forms and tautomers have one parent, and are found in a prepared pool wherever memory finds them."""

import pytest

from graph_bandit_campaign.pool.forms import Parents, find_forms, parent_of
from graph_bandit_campaign.pool.prepared.making.run import prepare
from graph_bandit_campaign.pool.prepared.settings import PrepareSettings
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
POOL = [
    *("CCN.Cl", "O=c1cccc[nH]1", "CC(=O)CC(=O)c1ccccc1", "[Na+].[O-]C(=O)c1ccccc1Br", "[nH]1cc(Cl)nc1", "CC(C)NCC.CCl"),
    *(
        "C[Se]CC(=O)[O-].[K+]",
        "CC(O)=Nc1ccc(C)cc1",
        "C/C=C/CCO",
        "O=[N+]([O-])c1ccccc1",
        "C[NH+](C)CCO.[Cl-]",
        "c1ccccc1",
    ),
]
RESULTS = [
    *("CCN", "Oc1ccccn1", "CC(O)=CC(=O)c1ccccc1", "OC(=O)c1ccccc1Br", "c1c(Cl)nc[nH]1", "C[Se]CC(=O)O", "CCCC"),
    *("CC(=O)Nc1ccc(C)cc1", "CN(C)CCO", "OCC/C=C\\C", "CC(C)NCC"),
]


@pytest.mark.parametrize("forms", MOLECULES)
def test_forms_of_a_molecule_have_one_parent_and_no_others_have_it(forms):
    parents = Parents(canonical_smiles(form) for molecule in MOLECULES for form in molecule)
    canonical = [*map(canonical_smiles, forms)]
    assert [set(parents.find(form)) for form in canonical] == [{*canonical}] * len(forms)
    assert len(set(map(parent_of, canonical))) == 1


def test_the_forms_that_memory_finds_are_found_in_a_prepared_pool(tmp_path):
    (tmp_path / "pool.csv").write_text("\n".join(["smiles", *POOL]) + "\n")
    pool = prepare(PrepareSettings(tmp_path / "pool.csv", tmp_path / "pool", workers=None))
    ((*texts,),) = (block.smiles for block in pool)
    for result in map(parent_smiles, map(canonical_smiles, RESULTS)):
        found = {texts[row] for _, row in (*pool.find((), [result])[1].values(), *find_forms(pool, [result]))}
        assert set(Parents(texts).find(result)) <= found
