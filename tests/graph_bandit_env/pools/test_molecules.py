"""Molecules of tables and lists: what they become, which rows are bad, and how sets grow."""

import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from rdkit import Chem
from support.molecules import some_molecules
from support.pools import assert_equal_pools
from torch_geometric.utils import from_smiles as pyg_from_smiles

from graph_bandit_env import GraphSet, MoleculeSet, from_smiles, from_smiles_csv
from graph_bandit_env.files import digest
from graph_bandit_env.pools import unread_graphs
from graph_bandit_env.pools.molecule_graph import to_one_hot
from graph_bandit_env.pools.molecule_rows import BadRowsError

NAN = np.nan
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


DOCK = "id,smiles,dock,y,logd\na,CCO,-7.5,1,0.1\nb,CCN,,2,n/a\nc,CCC,-9,,1e-3\n"


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (
            "smiles,y\nCCO,1\nOCC,2\nC,\nC(C)O,6\n",
            {"target": "y"},
            {"smiles": ("CCO", "C"), "targets": [3.0, NAN], "known": [True, False], "merged": 2},
        ),
        ("id,smiles\n m0 ,C\n,CC\n007,CCC\n", {"identifier": "id"}, {"ids": ("m0", "CC", "007")}),
        (
            "id,smiles\na,CCO\nb,OCC\nc,C\na,CCO\n",
            {"identifier": "id"},
            {"ids": ("a", "c"), "aliases": {"b": "a"}, "merged": 2},
        ),
        (
            DOCK,
            {"target": "y", "columns": ("logd", "dock")},
            {"columns": [[0.1, -7.5], [NAN, NAN], [0.001, -9.0]], "column_names": ("logd", "dock")},
        ),
        (
            "smiles,dock,logd\nCCO,1,\nOCC,4,2\nC(O)C,,\nCCN,,7\n",
            {"columns": ("dock", "logd")},
            {"smiles": ("CCO", "CCN"), "columns": [[2.5, 2.0], [NAN, 7.0]]},
        ),
    ],
)
def test_rows_of_one_molecule_are_merged_and_have_the_mean_of_what_is_known(tmp_path, text, options, expected):
    (tmp_path / "pool.csv").write_text(text)
    molecules = from_smiles_csv(tmp_path / "pool.csv", **options)
    for name, value in expected.items():
        np.testing.assert_array_equal(getattr(molecules, name), value)


def test_identifiers_of_numbers_have_no_decimals(tmp_path):
    pd.DataFrame({"id": [7.0, None, 12.0], "smiles": ["C", "CC", "CCC"]}).to_parquet(tmp_path / "pool.parquet")
    assert from_smiles_csv(tmp_path / "pool.parquet", identifier="id").ids == ("7", "CC", "12")


@pytest.mark.parametrize(
    ("text", "options", "bad", "good"),
    [
        (
            "id,smiles,y\na,CCO,1\nx,C(C,1\ny,,2\nz,CC,many\n\nw,N#N,inf\n",
            {"target": "y"},
            {3: "C(C", 4: "`smiles`", 5: "`y`", 7: "`y`"},
            ("a",),
        ),
        ("id,smiles\na,C\nb,CC\na,CCC\n,CCCC\nCCCC,CO\n", {}, {2: "4", 4: "2", 5: "6", 6: "5"}, ("b",)),
        ("id,smiles,dock\na,CCO,1\nb,CCN,strong\nc,CCC,1e101\n", {"columns": ["dock"]}, {3: "dock", 4: "dock"}, ("a",)),
        (f"id,smiles\na,CCO\nb,{'C' * 612}\nc,C\n", {}, {3: "612 atoms"}, ("a", "c")),
    ],
)
def test_bad_rows_are_told_with_their_lines_and_can_be_left_out(tmp_path, text, options, bad, good):
    (tmp_path / "pool.csv").write_text(text)
    with pytest.raises(BadRowsError) as caught:
        from_smiles_csv(tmp_path / "pool.csv", identifier="id", **options)
    assert [number for number, _ in caught.value.problems] == [*bad]
    for (_, problem), word in zip(caught.value.problems, bad.values(), strict=True):
        assert word in problem
    left = from_smiles_csv(tmp_path / "pool.csv", identifier="id", on_error="skip", **options)
    assert (left.ids, left.skipped) == (good, caught.value.problems)


def test_molecules_of_rdkit_are_taken_as_their_smiles():
    texts = ["CC[C@H](N)O", "c1ccccc1O", "F/C=C/F"]
    given = from_smiles([*map(Chem.MolFromSmiles, texts[:2]), texts[2]], targets=[1, 2, 3])
    assert given.smiles == from_smiles(texts).smiles
    assert list(given.targets) == [1, 2, 3]
    with_hydrogens = from_smiles([Chem.AddHs(Chem.MolFromSmiles(texts[0]))])
    assert with_hydrogens.smiles == from_smiles(texts[:1]).smiles


@pytest.mark.parametrize("entry", [None, 7, b"CCO", NAN])
def test_what_is_neither_a_smiles_nor_a_molecule_is_refused_with_its_place(entry):
    given = ["CCO", entry, "CCN"]
    with pytest.raises(BadRowsError, match="line 2"):
        from_smiles(given)
    kept = from_smiles(given, targets=[1, 2, 3], ids="abc", on_error="skip", columns={"x": [4, 5, 6]})
    assert (kept.ids, list(kept.targets), kept.columns.ravel().tolist()) == (("a", "c"), [1, 3], [4, 6])
    assert kept.skipped[0][0] == 2


@pytest.mark.parametrize("columns", [{"dock": [1, 2]}, {"dock": [1, np.inf, 2]}, {"dock": ["1", "2"]}, {"": [1, 2, 3]}])
def test_columns_that_are_not_numbers_for_each_molecule_are_refused(columns):
    with pytest.raises(ValueError, match="column"):
        from_smiles(["CCO", "CCN", "CCC"], columns=columns)


@pytest.fixture
def molecules():
    return from_smiles(["CCO", "CCN", "CCC"], ids="abc", columns={"dock": [1, NAN, 3], "logd": [0.5, 0.25, 0]})


def test_more_columns_follow_and_known_values_stay(molecules):
    more = molecules.with_columns(("mass", "dock"), [[1, 7], [NAN, 8], [3, 9]])
    assert more.column_names == ("dock", "logd", "mass")
    np.testing.assert_array_equal(more.columns, [[1, 0.5, 1], [8, 0.25, NAN], [3, 0, 3]])
    assert (more.smiles, more.ids) == (molecules.smiles, molecules.ids)
    np.testing.assert_array_equal(molecules.columns, [[1, 0.5], [NAN, 0.25], [3, 0]])


def test_joined_molecules_are_those_of_the_first_and_then_what_is_new():
    first = from_smiles(["CCO", "OCC", "C", "CCN"], [1, 3, NAN, NAN], ids="abcd", columns={"dock": [1, 1, 2, NAN]})
    columns = {"logd": [0.5, 7, 7, 0.25, 0], "dock": [3, 7, 7, 7, 0]}
    smiles = ["c1ccccc1", "CCO", "C(C)O", "CCN", "C(C"]
    second = from_smiles(smiles, [4, 9, 9, 9, 0], "skip", ids="exznw", columns=columns)
    joined = first.join(second)
    assert (joined.smiles, joined.ids) == (("CCO", "C", "CCN", "c1ccccc1"), ("a", "c", "d", "e"))
    np.testing.assert_array_equal(joined.targets, [2.0, NAN, 9.0, 4.0])  # what the first knows is not averaged
    assert joined.column_names == ("dock", "logd")
    np.testing.assert_array_equal(joined.columns, [[1, 7], [2, NAN], [7, 0.25], [3, 0.5]])
    assert dict(joined.aliases) == {"b": "a", "x": "a", "z": "a", "n": "d"}
    assert (joined.skipped, joined.merged) == (second.skipped, 4)
    for graph, text in zip(joined, joined.smiles, strict=True):
        (alone,) = from_smiles([text])
        assert all(np.array_equal(a, b) for a, b in zip(graph, alone, strict=True))
    other_features = MoleculeSet(GraphSet([np.ones((1, 2))], [[]]), ["CF"], salts="merge")
    others = (from_smiles(["CF"], ids="c"), from_smiles(["C"], salts="separate"), other_features)
    for other, field in zip(others, ("`c`", "salts", "from_smiles"), strict=True):
        with pytest.raises(ValueError, match=field):
            first.join(other)


def test_features_are_made_only_of_graphs_that_are_read(monkeypatch):
    """Of a pool of millions of atoms, features take most of the memory."""
    molecules = from_smiles(SMILES, range(len(SMILES)), salts="separate")
    with monkeypatch.context() as patch:
        refuse = lambda *given: pytest.fail("features were made")  # noqa: E731
        patch.setattr("graph_bandit_env.pools.molecule_graph.to_one_hot", refuse)
        more = pickle.loads(pickle.dumps(molecules.take([5, 3, 0]).without_targets()))
        assert (len(more), more.feature_dim, more.edge_feature_dim) == (3, 38, 9)
        assert repr(more).startswith("MoleculeSet(3 graphs, 1 to 6 nodes, 38 features")
    for k, graph in zip([5, 3, 0], more, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(graph, molecules[k], strict=True))


def test_a_molecule_of_more_than_256_atoms_keeps_its_bonds():
    assert from_smiles(["C" * 300, "CC"], most_atoms=300)[0].edge_links[-1].tolist() == [299, 298]


TEXTS = ("OCC", "C[NH3+].[Cl-]", "[OH-].CCC", "CC", *some_molecules(20).smiles[3:])
READ = from_smiles(TEXTS)


@pytest.mark.parametrize(
    ("change", "index"),
    [
        (lambda some: some, np.arange(len(READ))),
        (lambda some: some.take(np.arange(len(some))[::-2]), np.arange(len(READ))[::-2]),
        (lambda some: pickle.loads(pickle.dumps(some)), np.arange(len(READ))),
        (lambda some: some.take([0, 1]).join(some.take([1, 4, 3])), [0, 1, 4, 3]),
    ],
    ids=["all", "take", "pickle", "join"],
)
def test_unread_graphs_are_those_that_are_read_at_once_and_not_read_before(change, index):
    changed = change(MoleculeSet(unread_graphs(TEXTS, "merge"), READ.smiles, READ.ids, salts="merge"))
    assert "nodes" not in vars(changed._packed)
    assert_equal_pools(changed, READ.take(index))
    assert "nodes" in vars(changed._packed)


def test_the_digest_has_the_columns_only_where_there_are_some(molecules):
    plain = from_smiles(molecules.smiles)
    assert digest(plain) == digest(MoleculeSet(molecules, molecules.smiles))
    digests = {digest(plain), digest(molecules)}
    digests.add(digest(plain.with_columns(("dock", "logd"), [[1, 0.5], [0, 0.25], [3, 0]])))
    digests.add(digest(plain.with_columns(("dock", "mass"), molecules.columns)))
    assert len(digests) == 4
    signed = np.where(molecules.columns == 0, -0.0, molecules.columns)
    assert digest(plain.with_columns(molecules.column_names, signed)) == digest(molecules)
