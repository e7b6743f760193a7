"""Embeddings of molecules are found by identifier or SMILES, and become columns."""

import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graph_bandit_env import from_smiles
from graph_bandit_env.files import read_embeddings

NAN = np.nan


@pytest.fixture
def molecules():
    return from_smiles(["CCO", "CCN", "CCC"], ids=["a", "b", "c"], columns={"dock": [1, NAN, 3]})


@pytest.fixture
def npz(tmp_path):
    def save(ids, values, name="prints.npz", write=np.savez, **more):
        write(tmp_path / name, ids=ids, values=values, **more)
        return tmp_path / name

    return save


@pytest.fixture
def parquet(tmp_path):
    def save(table):
        pq.write_table(pa.table(table) if isinstance(table, dict) else table, tmp_path / "prints.parquet")
        return tmp_path / "prints.parquet"

    return save


def same(found, expected):
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, np.array(expected, np.float64))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.uint8, np.int64, np.bool_])
@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
def test_vectors_become_columns_of_the_molecules_with_their_identifiers(npz, molecules, kind, write):
    path = npz(["c", "a", "other", "b"], np.array([[1, 0], [0, 1], [1, 1], [0, 0]], kind), write=write)
    more = read_embeddings(path).add_to(molecules)
    assert more.column_names == ("dock", "prints.npz:0", "prints.npz:1")
    same(more.columns, [[1, 0, 1], [NAN, 0, 0], [3, 1, 0]])
    assert more.ids == molecules.ids


@pytest.mark.parametrize(
    ("smiles", "names", "ids", "expected"),
    [
        (["CCO", "CCN", "CCC"], "abc", ["OCC", "CCN", "c", "C(C)C"], [1, 2, 3]),  # any SMILES, if no identifier fits
        (["CCO", "CCN"], ["CCN", "b"], ["CCN"], [1, NAN]),  # an identifier is not read as SMILES
        (["CCO", "OCC", "CCN"], "acb", ["c", "b"], [1, 2]),  # of a row that was merged
        (["CCO", "CCN"], "97", np.array([7, 8, 9]), [3, 1]),
        (["CCO", "CCN"], "97", np.array([b"7", b"8", b"9"]), [3, 1]),
        (["CCO", "CCN"], "97", np.array([" 7", "8 ", "9"]), [3, 1]),
        (["CCO", "CCN", "CCC"], "abc", ["a", "OCC", "CCN"], [1, 3, NAN]),
        (["CCO", "CCN", "CCC"], "abc", ["OCC", "a", "CCN"], [2, 3, NAN]),
    ],
)
def test_molecules_are_found_by_identifier_alias_or_smiles(npz, smiles, names, ids, expected):
    path = npz(ids, 1.0 + np.arange(len(ids)))
    same(read_embeddings(path).add_to(from_smiles(smiles, ids=[*names])).columns[:, 0], expected)


@pytest.mark.parametrize(
    ("ids", "values", "field"),
    [
        (["a", "a"], [[1], [2]], "`a`"),
        (["a", ""], [[1], [2]], "place 1"),
        (["a", "b"], [[1, 2], [3, np.inf]], "column `1`"),
        (["a", "b"], [[1, NAN], [3, NAN]], "column `1`"),
        (["a", "b"], [[1]], "`values`"),
        (["a"], [["x"]], "numbers"),
        (["a"], np.zeros((1, 2, 2)), "`values`"),
        ([1.5], [[1]], "`ids`"),
        ([["a"]], [[1]], "`ids`"),
        (np.array([], "U1"), np.zeros((0, 2)), "0 rows"),
    ],
)
def test_arrays_that_are_not_embeddings_are_refused(npz, ids, values, field):
    with pytest.raises(ValueError, match=field):
        read_embeddings(npz(ids, values))


def test_a_parquet_file_has_a_column_of_identifiers_and_columns_of_numbers(parquet, molecules):
    path = parquet(
        {
            "smiles": ["CCC", "CCO"],
            "logd": pa.array([1, None], pa.int64()),
            "id": pa.array(["b", "a"]).dictionary_encode(),
            "f16": pa.array([0.5, NAN], pa.float16()),
            "bit": [True, None],
            "price": [decimal.Decimal("1.25"), None],
            "large": [2**62 + 1, 1],
        }
    )
    embeddings = read_embeddings(path)
    assert embeddings.left_out == ("smiles",)
    assert embeddings.names == tuple(f"prints.parquet:{name}" for name in ("logd", "f16", "bit", "price", "large"))
    more = embeddings.add_to(molecules)
    same(more.columns[:, 1:], [[NAN, NAN, NAN, NAN, 1], [1, 0.5, 1, 1.25, 2.0**62], [NAN] * 5])


def test_without_a_column_id_the_first_text_identifies_and_row_labels_are_not_numbers(tmp_path, molecules):
    path = tmp_path / "prints.parquet"
    frame = pd.DataFrame({"value": [1.0, 2.0], "name": ["a", "b"], "text": ["x", "y"]}, index=[3, 9])
    frame.to_parquet(path)
    embeddings = read_embeddings(path)
    assert embeddings.ids == ("a", "b")
    assert embeddings.names == ("prints.parquet:value",)
    assert embeddings.left_out == ("text", "__index_level_0__")
