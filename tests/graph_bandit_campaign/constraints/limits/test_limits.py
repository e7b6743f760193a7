"""Limits on molecules, against RDKit itself."""

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import QED, Crippen, Descriptors, Lipinski, rdMolDescriptors
from support.molecules import ODD_MOLECULES, some_molecules

from graph_bandit_campaign import Limits
from graph_bandit_campaign.constraints.limits.limits import LimitColumns
from graph_bandit_campaign.constraints.limits.requirements import PROPERTIES
from graph_bandit_env import from_smiles
from graph_bandit_env.pools import is_bare_salt

SMILES = tuple(dict.fromkeys((*some_molecules(20).smiles, *ODD_MOLECULES)))
POOL = from_smiles([text for text in SMILES if not is_bare_salt(text)])
MOLECULES = [Chem.MolFromSmiles(text) for text in POOL.smiles]
ORACLE = {
    "charge": Chem.GetFormalCharge,
    "heavy_atoms": Chem.Mol.GetNumHeavyAtoms,
    "heteroatoms": Lipinski.NumHeteroatoms,
    "mw": Descriptors.MolWt,
    "exact_mass": rdMolDescriptors.CalcExactMolWt,
    "rings": Lipinski.RingCount,
    "aromatic_rings": Lipinski.NumAromaticRings,
    "fraction_sp3": Lipinski.FractionCSP3,
    "tpsa": Descriptors.TPSA,
    "hbd": Lipinski.NumHDonors,
    "hba": Lipinski.NumHAcceptors,
    "rotatable_bonds": Lipinski.NumRotatableBonds,
    "stereocentres": rdMolDescriptors.CalcNumAtomStereoCenters,
    "molar_refractivity": Crippen.MolMR,
    "logp": Descriptors.MolLogP,
    "qed": QED.default,
}


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties_are_those_of_rdkit(name):
    values = np.array([ORACLE[name](molecule) for molecule in MOLECULES])
    middle = float(np.median(values))
    assert Limits(require=[f"{name.upper()}<={middle!r}"]).mask(POOL).tolist() == (values <= middle).tolist()
    assert Limits(require=[f"{name}>{middle!r}"]).mask(POOL).tolist() == (values > middle).tolist()


def test_all_limits_must_be_met_and_each_says_what_it_leaves():
    limits = Limits(require=["logp=0..3", "mw<200"], forbid=["[N+](=O)[O-]"], filter=["stock=yes"])
    stock = ["yes", "no", ""] * 9
    columns = LimitColumns(range(len(POOL)), texts={"stock": stock[: len(POOL)]})
    selection = limits.select_rows(POOL.smiles, columns)
    assert [*selection.steps] == ["stock=yes", "mw<200", "forbid [N+](=O)[O-]", "logp=0..3"]
    nitro = Chem.MolFromSmarts("[N+](=O)[O-]")
    tests = [
        [cell == "yes" for cell in stock[: len(POOL)]],
        [Descriptors.MolWt(one) < 200 for one in MOLECULES],
        [not one.HasSubstructMatch(nitro) for one in MOLECULES],
        [0 <= Crippen.MolLogP(one) <= 3 for one in MOLECULES],
    ]
    left, said = np.ones(len(POOL), bool), []
    for place, (step, meets) in enumerate(zip(selection.steps, tests, strict=True)):
        assert ((selection.failed == place) == (left & ~np.array(meets))).all()
        left &= meets
        said.append(f"{step} leaves {left.sum()}")
    assert (selection.mask == left).all()
    assert ", then ".join(said) in selection.describe()
    assert selection.reason(1) == "stock=yes"
    known = selection.with_known("price", np.arange(len(POOL)) % 2 == 0)
    assert (known.mask == (left & (np.arange(len(POOL)) % 2 == 0))).all()


def test_a_column_wins_over_a_property_and_a_gap_does_not_meet_the_limit():
    pool = from_smiles(["CCO", "CCN", "CCC"], columns={"MW": [1000.0, 1.0, np.nan]})
    assert Limits(require=["mw<500"]).mask(pool).tolist() == [False, True, False]


def test_one_row_of_a_molecule_must_meet_all_limits_on_columns():
    limits = Limits(require=["price<5"], filter=["stock=yes"])
    rows = LimitColumns([0, 0, 1, 1], {"price": [1, 9, 1, 9]}, {"stock": ["yes", "no", "no", "yes"]})
    assert limits.select_rows(["CCO", "CCN"], rows).mask.tolist() == [True, False]


@pytest.mark.parametrize(
    ("given", "columns", "message"),
    [
        ({"require": ["mwt<5"]}, {}, "mw,"),
        ({"filter": ["stok=yes"]}, {"stock": ["yes"] * len(POOL)}, "stock"),
        ({"require": ["price<5"]}, {"stock": ["a"] * len(POOL)}, "stock.* charge"),
        ({"require": ["mw<5"]}, {"Mw": [1] * len(POOL), "MW": [1] * len(POOL)}, "Mw, MW"),
    ],
)
def test_limits_that_name_nothing_are_refused(given, columns, message):
    with pytest.raises(ValueError, match=message):
        Limits(**given).mask(POOL, columns)


def test_equal_limits_have_equal_contents_in_any_order():
    first = Limits(["mw<5", "logp = 1..2"], ["pains", "CBr"], ["a=x,y"])
    assert first.content() == Limits(["logp=1..2", "mw<5.0"], ["CBr", "PAINS"], ["a=y,x"]).content()
    assert first.content() != Limits(["mw<=5", "logp=1..2"], ["pains", "CBr"], ["a=x,y"]).content()
