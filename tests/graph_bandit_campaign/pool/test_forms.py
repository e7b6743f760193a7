"""Other forms of results are found in a prepared pool wherever they are found in memory."""

import pytest

from graph_bandit_campaign.pool.forms import Parents, find_forms
from graph_bandit_campaign.pool.prepared import PrepareSettings, prepare
from graph_bandit_env import canonical_smiles

POOL = [
    *("CCN.Cl", "O=c1cccc[nH]1", "C/C(O)=N/c1ccc(C#N)cc1", "N/C(S)=N/c1ccccc1", "CC(=O)CC(=O)c1ccccc1"),
    *("[Na+].[O-]C(=O)c1ccccc1Br", "[nH]1cc(Cl)nc1", "C[Se]CC(=O)[O-].[K+]", "CC(O)=Nc1ccc(C)cc1", "C/C=C/CCO"),
    *("O=[N+]([O-])c1ccccc1", "C[NH+](C)CCO.[Cl-]", "OC(=O)C(F)(F)F.NCc1ccncc1", "c1ccccc1", "CC(C)NCC.CCl"),
]
RESULTS = [
    *("CCN", "Oc1ccccn1", "C=C(O)Nc1ccc(C#N)cc1", "CC(=O)Nc1ccc(C#N)cc1", "NC(=S)Nc1ccccc1", "CC(O)=CC(=O)c1ccccc1"),
    *("OC(=O)c1ccccc1Br", "c1c(Cl)nc[nH]1", "C[Se]CC(=O)O", "CC(=O)Nc1ccc(C)cc1", "CN(C)CCO", "NCc1ccncc1"),
    *("OCC/C=C\\C", "CC(C)NCC", "CCCC"),
]


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    folder = tmp_path_factory.mktemp("salts")
    (folder / "pool.csv").write_text("\n".join(["smiles", *POOL]) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PrepareSettings, "block", 8)
        settings = PrepareSettings(folder / "pool.csv", folder / "pool", part_rows=8, workers=None, salts="separate")
        return prepare(settings)


@pytest.mark.parametrize("result", RESULTS)
def test_every_form_that_memory_finds_is_found(pool, result):
    texts = [text for block in pool for text in block.smiles]
    text = canonical_smiles(result)
    expected = set(Parents(texts).find(text))
    found = find_forms(pool, [text])
    assert expected <= ({texts[8 * part + row] for part, row in found} if found else set())


@pytest.mark.parametrize(
    ("form", "parent"), [("CC(=O)O[Na]", "CC(=O)O"), ("C[Si](C)(C)O[K]", "C[Si](C)(C)O"), ("CCN.Cl", "CCN")]
)
def test_a_form_with_a_metal_or_another_fragment_is_found_by_its_parent(form, parent):
    assert Parents(["c1ccccc1", form]).find(parent) == [form]
    assert Parents(["c1ccccc1", parent]).find(form) == [parent]
