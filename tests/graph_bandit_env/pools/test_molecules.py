import numpy as np
import pandas as pd
import pytest
import torch
from rdkit import Chem
from torch_geometric.utils import from_smiles as pyg_from_smiles

import graph_bandit_env  # noqa: F401
from graph_bandit_env.pools.molecule_graph import to_one_hot
from graph_bandit_env.pools.molecule_rows import BadRowsError
from graph_bandit_env.pools.molecule_sources import from_smiles, from_smiles_csv

SMILES = [
    "CCO",
    "c1ccccc1C(=O)[O-].[Na+]",  # a salt
    "C",  # one atom
    "[13CH4]",  # an isotope
    "F/C=C\\F",
    "N[C@@H](C)C(=O)O",
    "C#N",
    "O=[N+]([O-])c1ccc(Br)cc1",
    "[Pt](Cl)(Cl)(N)N",
    "[CH3]",
]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "pool.csv"
    rows = [f"m{k},{smiles},{k / 2}" for k, smiles in enumerate(SMILES)]
    path.write_text("\n".join(["name,smiles,activity", *rows]) + "\n")
    return path


@pytest.mark.parametrize("smiles", SMILES)
def test_features_are_the_one_hot_categories_of_pyg(smiles):
    """PyG reads the same molecule by its own tables."""
    (mine,), theirs = from_smiles([smiles], salts="separate").to_pyg(), pyg_from_smiles(smiles)
    assert torch.equal(mine.edge_index, theirs.edge_index)
    assert np.array_equal(mine.x, to_one_hot(theirs.x.numpy(), "atom"))
    assert np.array_equal(mine.edge_attr, to_one_hot(theirs.edge_attr.numpy(), "bond"))


@pytest.mark.parametrize(
    ("kind", "counts", "single"), [("atom", (119, 9, 11, 12, 9, 5, 8, 2, 2), (5, 7, 8)), ("bond", (22, 6, 2), (2,))]
)
def test_every_category_has_one_place_among_the_one_hot_columns(kind, counts, single):
    for column, count in enumerate(counts):
        rows = np.zeros((count, len(counts)), np.uint8)
        rows[:, column] = np.arange(count)
        changed = to_one_hot(rows, kind) - to_one_hot(rows[:1], kind)
        assert set(changed[1:].sum(axis=1)) == ({*range(1, count)} if column in single else {0.0})


def test_one_hot_columns_begin_with_the_elements():
    (ethanol,), (platinum,) = from_smiles(["CCO"]).to_pyg(), from_smiles(["[Pt]"]).to_pyg()
    assert ethanol.x[:, 2].tolist() == [1, 1, 0]
    assert ethanol.x[:, 4].tolist() == [0, 0, 1]
    assert platinum.x[0, :13].tolist() == [0] * 12 + [1]


def test_bad_rows_are_told_with_their_lines(table):
    with table.open("a") as file:
        file.write("x,C(C,1\ny,,2\nz,CC,many\n\nw,N#N,inf\n")
    with pytest.raises(BadRowsError) as caught:
        from_smiles_csv(table, target="activity")
    assert caught.value.problems == (
        (12, "RDKit reads no molecule from 'C(C'."),
        (13, "expected a SMILES in `smiles`. Got nothing."),
        (14, "expected a number in `activity`. Got 'many'."),
        (16, "expected a finite number in `activity`. Got 'inf'."),
    )
    assert 'on_error="skip"' in str(caught.value)
    molecules = from_smiles_csv(table, target="activity", on_error="skip")
    assert len(molecules) == len(SMILES)
    assert molecules.skipped == caught.value.problems
    assert "4 rows skipped" in repr(molecules)


def test_equal_molecules_are_merged_and_their_targets_averaged(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("smiles,y\nCCO,1\nOCC,2\nC,\nC(C)O,6\n")
    molecules = from_smiles_csv(path, target="y")
    assert molecules.smiles == ("CCO", "C")
    assert molecules.targets[0] == 3.0
    assert molecules.known.tolist() == [True, False]
    assert molecules.merged == 2
    assert "2 rows merged" in repr(molecules)


def test_one_name_for_two_molecules_is_refused_or_left_out(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("id,smiles\na,C\nb,CC\na,CCC\n,CCCC\nCCCC,CO\n", encoding="utf-8")
    with pytest.raises(BadRowsError) as caught:
        from_smiles_csv(path, identifier="id")
    assert caught.value.problems == (
        (2, "`a` is another molecule in line 4."),
        (4, "`a` is another molecule in line 2."),
        (5, "`CCCC` is another molecule in line 6."),
        (6, "`CCCC` is another molecule in line 5."),
    )
    assert from_smiles_csv(path, identifier="id", on_error="skip").ids == ("b",)


def test_joined_molecules_are_those_of_the_first_and_then_what_is_new(tmp_path):
    (tmp_path / "a.csv").write_text("id,smiles,y\na1,CCO,1\na2,C,\na3,N,\n")
    (tmp_path / "b.csv").write_text("id,smiles,y\nb1,c1ccccc1,4\nb2,OCC,9\nb3,C,2\nb4,bad,0\n")
    first, second = (
        from_smiles_csv(tmp_path / name, target="y", identifier="id", on_error="skip") for name in ("a.csv", "b.csv")
    )
    joined = first.join(second)
    assert joined.smiles == ("CCO", "C", "N", "c1ccccc1")
    assert joined.ids == ("a1", "a2", "a3", "b1")
    np.testing.assert_array_equal(joined.targets, [1.0, np.nan, np.nan, 4.0])  # molecules in both are as in the first
    assert joined.skipped == second.skipped
    assert joined.merged == 2
    for graph, text in zip(joined, joined.smiles, strict=True):
        (alone,) = from_smiles([text])
        assert all(np.array_equal(a, b) for a, b in zip(graph, alone, strict=True))
    assert (first.targets[0], len(first), len(second)) == (1.0, 3, 3)  # which are as they were


def test_joining_refuses_one_identifier_for_two_molecules(tmp_path):
    for name, rows in (("a.csv", "x,C"), ("b.csv", "x,N"), ("c.csv", "y,C")):
        (tmp_path / name).write_text(f"id,smiles\n{rows}\n")
    first, clash, same = (from_smiles_csv(tmp_path / f"{name}.csv", identifier="id") for name in "abc")
    with pytest.raises(ValueError, match="`x`"):
        first.join(clash)
    assert first.join(same).ids == ("x",)


def test_identifiers_are_text_without_spaces_around_it(tmp_path):
    path = tmp_path / "pool.csv"
    path.write_text("id,smiles\n m0 ,C\n,CC\n007,CCC\n")
    assert from_smiles_csv(path, identifier="id").ids == ("m0", "CC", "007")
    parquet = tmp_path / "pool.parquet"
    pd.DataFrame({"id": [7.0, None, 12.0], "smiles": ["C", "CC", "CCC"]}).to_parquet(parquet)
    assert from_smiles_csv(parquet, identifier="id").ids == ("7", "CC", "12")


def test_merged_rows_keep_their_identifiers_as_aliases():
    molecules = from_smiles(["CCO", "OCC", "C", "CCO"], ids=["a", "b", "c", "a"])
    assert molecules.ids == ("a", "c")
    assert dict(molecules.aliases) == {"b": "a"}
    joined = molecules.join(from_smiles(["OCC", "CC", "C(C)"], ids=["x", "y", "z"]))
    assert dict(joined.aliases) == {"b": "a", "z": "y", "x": "a"}


def test_molecules_of_rdkit_are_taken_as_their_smiles():
    texts = ["CC[C@H](N)O", "c1ccccc1O", "F/C=C/F"]
    given = from_smiles([*map(Chem.MolFromSmiles, texts[:2]), texts[2]], targets=[1, 2, 3])
    assert given.smiles == from_smiles(texts).smiles
    assert list(given.targets) == [1, 2, 3]
    with_hydrogens = from_smiles([Chem.AddHs(Chem.MolFromSmiles(texts[0]))])
    assert with_hydrogens.smiles == from_smiles(texts[:1]).smiles


@pytest.mark.parametrize("entry", [float("nan"), None, 7, b"CCO", np.nan])
def test_what_is_neither_a_smiles_nor_a_molecule_is_refused_with_its_place(entry):
    given = ["CCO", entry, "CCN"]
    with pytest.raises(BadRowsError, match="line 2"):
        from_smiles(given)
    kept = from_smiles(given, targets=[1, 2, 3], ids="abc", on_error="skip", columns={"x": [4, 5, 6]})
    assert (kept.ids, list(kept.targets), kept.columns.ravel().tolist()) == (("a", "c"), [1, 3], [4, 6])
    assert kept.skipped[0][0] == 2
