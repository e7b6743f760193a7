"""Salts and charged molecules are described by their parent, and forms of one compound are one molecule."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem
from rdkit.Chem.MolStandardize import rdMolStandardize

from graph_bandit_env import MoleculeSet, from_smiles, from_smiles_csv
from graph_bandit_env.files import digest
from graph_bandit_env.pools.parents import ACIDS, BASES, COMMON, INORGANIC, is_bare_salt, parent_smiles

DRUGS = [
    "CC(C)NCC(O)COc1cccc2ccccc12",
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
        ("C[N+](C)(C)Cc1ccccc1.[Br-]", "C[N+](C)(C)Cc1ccccc1"),
        ("[Na]Oc1ccccc1", "Oc1ccccc1"),
        ("CC(=O)[O-].CC(=O)[O-].[Ca+2]", "CC(=O)O"),  # acetic acid itself
        ("CCN.CC(=O)O", "CCN"),
        ("CN.Cc1ccc(S(=O)(=O)O)cc1", "CN"),  # tosylates of two amines are two compounds
        ("CCN.Cc1ccc(S(=O)(=O)O)cc1", "CCN"),
        ("C[C@H](N)c1ccccc1.Cl", "C[C@H](N)c1ccccc1"),
        ("[13CH3]N.Cl", "[13CH3]N"),
        ("CCO", "CCO"),
        ("OCC", "OCC"),  # as written
        ("not.readable", "not.readable"),
    ],
)
def test_the_parent_of_a_form(form, parent):
    assert parent_smiles(form) == parent


@given(
    st.lists(st.sampled_from([*DRUGS, "[Cl-]", "[NH4+]", "O", *ACIDS.split(), *BASES.split()]), min_size=1, max_size=3)
)
def test_a_parent_is_its_own_parent_in_whatever_order_fragments_stand(fragments):
    parent = parent_smiles(Chem.CanonSmiles(".".join(fragments)))
    assert parent_smiles(parent) == parent == parent_smiles(Chem.CanonSmiles(".".join(reversed(fragments))))


def test_every_common_counter_ion_is_an_uncharged_fragment_in_its_canonical_form():
    for text in " ".join((*COMMON, *INORGANIC)).split():
        molecule = rdMolStandardize.Uncharger().uncharge(Chem.MolFromSmiles(text))
        assert (Chem.MolToSmiles(molecule), "." in text) == (text, False)


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


def test_a_salt_without_a_name_is_named_as_it_is_written():
    pool = from_smiles(["CCO", "Cl.NCC", "CC[NH3+]", "CCN"])
    assert (pool.ids, pool.smiles) == (("CCO", "CCN.Cl"), ("CCO", "CCN"))
    assert dict(pool.aliases) == {"CC[NH3+]": "CCN.Cl"}


def test_forms_can_stay_apart(tmp_path):
    smiles, path = ["CCN.Cl", "CCN", "CC[NH3+]"], tmp_path / "pool.csv"
    path.write_text("\n".join(["smiles", *smiles]) + "\n")
    for pool in (from_smiles(smiles, forms="apart"), from_smiles_csv(path, forms="apart")):
        assert (pool.smiles, dict(pool.written), pool.num_nodes.tolist()) == (tuple(smiles), {}, [4, 3, 3])
    with pytest.raises(ValueError, match='Expected `forms` to be "joined" or "apart". Got \'both\''):
        from_smiles(smiles, forms="both")


def test_molecules_without_salts_and_charges_are_the_same_either_way():
    """Nothing that was stored of such a set changes."""
    smiles = ["OCC", "c1ccccc1", "C[C@H](N)C(=O)O", "O=[N+]([O-])c1ccccc1", "[Cl-]C", "not one"]
    joined, apart = (from_smiles(smiles, range(6), on_error="skip", forms=forms) for forms in ("joined", "apart"))
    assert (joined.smiles, joined.ids, joined.skipped) == (apart.smiles, apart.ids, apart.skipped)
    assert (digest(joined), dict(joined.written)) == (digest(apart), {})


def test_what_is_written_stays_with_the_molecules():
    pool = from_smiles(["CCN.Cl", "CCO", "CCN"], ids=["salt", "b", "base"])
    assert dict(pickle.loads(pickle.dumps(pool)).written) == {"salt": "CCN.Cl"}
    assert dict(pool.with_columns(["dock"], [[1.0], [2.0]]).written) == {"salt": "CCN.Cl"}
    assert [dict(pool.take([k]).written) for k in (0, 1)] == [{"salt": "CCN.Cl"}, {}]
    both = pool.join(from_smiles(["CCF.CC(=O)O", "CCO"], ids=["f", "o"]))
    assert (both.forms, dict(both.written)) == ("joined", {"salt": "CCN.Cl", "f": "CC(=O)O.CCF"})
    assert "2 described by their parents" in repr(both)


def test_joined_and_separate_forms_do_not_mix():
    pool = from_smiles(["CCN"])
    assert pool.standard_smiles("CCN.Cl") == "CCN"
    apart = MoleculeSet(pool, pool.smiles)
    assert apart.standard_smiles("CCN.Cl") == "CCN.Cl"
    with pytest.raises(ValueError, match="equal `forms` to join. Got 'joined' and 'apart'"):
        pool.join(apart)
