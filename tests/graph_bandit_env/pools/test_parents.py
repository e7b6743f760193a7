"""Salts and charged molecules are described by their parent, and forms of one compound are one molecule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem

from graph_bandit_env import from_smiles, from_smiles_csv
from graph_bandit_env.files import digest
from graph_bandit_env.pools.parents import ACIDS, BASES, is_bare_salt, parent_smiles

DRUGS = [
    "CN1CCC[C@H]1c1cccnc1",
    "O=C(O)c1ccccc1Nc1cccc(Cl)c1Cl",
    "NCCc1c[nH]c2ccc(O)cc12",
]


@pytest.mark.parametrize("drug", DRUGS)
def test_what_goes_with_a_drug_does_not_change_its_parent(drug):
    inorganic = ["[Cl-]", "[Na+]", "O", "Br", "I", "[K+].[K+]", "F[B-](F)(F)F", "O=S(=O)(O)O", "OP(=O)(O)O"]
    for other in (*inorganic, *ACIDS.split(), *BASES.split()):
        assert parent_smiles(f"{other}.{drug}") == Chem.CanonSmiles(drug)


@pytest.mark.parametrize(
    ("form", "parent"),
    [
        ("C[NH3+]", "CN"),
        ("[NH3+]CC(=O)[O-]", "NCC(=O)O"),
        ("C[N+](C)(C)CC(=O)[O-]", "C[N+](C)(C)CC(=O)[O-]"),  # no proton takes its charge away
        ("O=[N+]([O-])c1ccccc1", "O=[N+]([O-])c1ccccc1"),
        ("[Na]Oc1ccccc1", "Oc1ccccc1"),
        ("CC(=O)[O-].CC(=O)[O-].[Ca+2]", "CC(=O)O"),  # acetic acid itself
        ("CCN.CC(=O)O", "CCN"),
        ("CN.Cc1ccc(S(=O)(=O)O)cc1", "CN"),  # tosylates of two amines are two compounds
        ("CCN.Cc1ccc(S(=O)(=O)O)cc1", "CCN"),
        ("C[C@H](N)c1ccccc1.Cl", "C[C@H](N)c1ccccc1"),
        ("[13CH3]N.Cl", "[13CH3]N"),
        ("C[C@@H](N)c1ccccc1.Cl |&1:1|", "C[C@H](N)c1ccccc1 |&1:1|"),
        ("CCO", "CCO"),
        ("OCC", "OCC"),  # as written
        ("not.readable", "not.readable"),
    ],
)
def test_the_parent_of_a_form(form, parent):
    assert parent_smiles(form) == parent


@pytest.mark.parametrize(
    "smiles",
    [
        *("CCCCn1cc[n+](C)c1.[Cl-]", "C[N+](C)(C)CCO.NC(N)=O.[Cl-]", "CC(C)C1CCC(C)CC1O.CC(=O)O"),  # liquids
        *("CCN.CO", "CCO.ClC(Cl)Cl", "NC(N)=O.[Cl-].[Na+]"),  # a solvate, mixtures
        *("c1cc[cH-]c1", "O=c1[cH-]c(=O)[nH]c(=O)[nH]1", "C1=CC=C[CH]1[Fe]C1C=CC=C1", "c1cc[cH-]c1.c1cc[cH-]c1.[Fe+2]"),
    ],
)
def test_what_is_no_salt_of_a_compound_is_its_own_parent(smiles):
    assert parent_smiles(smiles) == smiles
    assert from_smiles([smiles, "CCN"]).smiles == (Chem.CanonSmiles(smiles), "CCN")


def test_numbers_of_atoms_do_not_count_and_racemates_do():
    smiles = ["[CH3:1][CH2:2][OH:3]", "CCO", "C[C@H](N)CC |&1:1|", "C[C@@H](N)CC |&1:1|", "C[C@H](N)CC", "CC(N)CC"]
    pool = from_smiles(smiles)
    assert len(pool) == 4
    assert from_smiles(pool.smiles).smiles == pool.smiles


@given(
    st.lists(st.sampled_from([*DRUGS, "[Cl-]", "[NH4+]", "O", *ACIDS.split(), *BASES.split()]), min_size=1, max_size=3)
)
def test_a_parent_is_its_own_parent_in_whatever_order_fragments_stand(fragments):
    parent = parent_smiles(Chem.CanonSmiles(".".join(fragments)))
    assert parent_smiles(parent) == parent == parent_smiles(Chem.CanonSmiles(".".join(reversed(fragments))))


@pytest.mark.parametrize(
    ("smiles", "bare"),
    [("[Na+].[Cl-]", True), ("[K+].[K+].[O-]C([O-])=O", True), ("[NH4+].[Br-]", True), ("CC(=O)[O-].[Na+]", False)]
    + [(text, False) for text in ("CCN.Cl", "O", "NC(N)=O", "C[NH3+]")],
)
def test_a_bare_salt_has_no_organic_part(smiles, bare):
    assert is_bare_salt(smiles) == bare


def test_forms_of_a_compound_are_rows_of_one_molecule():
    smiles = ["CCN.Cl", "CCO", "CCN", "CC[NH3+]", "CCF"]
    pool = from_smiles(
        smiles, [1.0, 5.0, 3.0, 2.0, 4.0], ids=["salt", "b", "base", "ion", "c"], columns={"dock": range(5)}
    )
    assert (pool.ids, pool.smiles) == (("salt", "b", "c"), ("CCN", "CCO", "CCF"))
    assert pool.targets.tolist() == [2.0, 5.0, 4.0]
    assert pool.columns[:, 0].tolist() == [pytest.approx(5 / 3), 1.0, 4.0]
    assert (dict(pool.aliases), pool.merged) == ({"base": "salt", "ion": "salt"}, 2)
    assert dict(pool.written) == {"salt": "CCN.Cl", "ion": "CC[NH3+]"}
    assert digest(pool) == digest(
        from_smiles(["CCN", "CCO", "CCF"], [2.0, 5.0, 4.0], columns={"dock": pool.columns[:, 0]})
    )


def test_forms_can_stay_apart(tmp_path):
    smiles, path = ["CCN.Cl", "CCN", "CC[NH3+]"], tmp_path / "pool.csv"
    path.write_text("\n".join(["smiles", *smiles]) + "\n")
    for pool in (from_smiles(smiles, salts="separate"), from_smiles_csv(path, salts="separate")):
        assert (pool.smiles, dict(pool.written), pool.num_nodes.tolist()) == (tuple(smiles), {}, [4, 3, 3])
    with pytest.raises(ValueError, match="salts"):
        from_smiles(smiles, salts="both")
