"""Columns of numbers that users give for molecules, from tables and from lists of SMILES."""

import gzip

import numpy as np
import pytest

from graph_bandit_env import MoleculeSet, from_smiles, from_smiles_csv
from graph_bandit_env.files import digest
from graph_bandit_env.pools.molecule_rows import BadRowsError

NAN = np.nan
TABLE = "id,smiles,dock,y,logd\na,CCO,-7.5,1,0.1\nb,CCN,,2,n/a\nc,CCC,-9,,1e-3\n"
EXPECTED = [[0.1, -7.5], [NAN, NAN], [0.001, -9.0]]


@pytest.fixture
def table(tmp_path):
    def write(text=TABLE, name="pool.csv"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return write


@pytest.fixture
def molecules():
    return from_smiles(
        ["CCO", "CCN", "CCC"], ids=["a", "b", "c"], columns={"dock": [1, NAN, 3], "logd": [0.5, 0.25, 0]}
    )


def same(found, expected):
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, np.array(expected, np.float64))


def test_columns_of_a_table_are_read_in_the_order_asked_for_with_gaps_as_nan(table):
    molecules = from_smiles_csv(table(), target="y", identifier="id", columns=("logd", "dock"))
    assert molecules.column_names == ("logd", "dock")
    same(molecules.columns, EXPECTED)
    same(molecules.targets, [1, 2, NAN])
    assert "2 columns, not all known for 1 molecules" in repr(molecules)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("strong", "line 3: .*`dock`"),
        ("1e101", "line 3: .*`dock`"),
    ],
)
def test_a_cell_that_is_not_a_number_is_refused_by_its_line(table, cell, message):
    path = table(f"smiles,dock\nCCO,1\nCCN,{cell}\nCCC,2\n")
    with pytest.raises(BadRowsError, match=message):
        from_smiles_csv(path, columns=("dock",))
    left = from_smiles_csv(path, columns=("dock",), on_error="skip")
    assert left.smiles == ("CCO", "CCC")
    assert [line for line, _ in left.skipped] == [3]
    assert len(from_smiles_csv(path)) == 3  # where the column is not asked for, it does no harm


def test_rows_of_one_molecule_have_the_mean_of_what_is_known(table):
    text = "smiles,dock,logd\nCCO,1,\nOCC,4,2\nC(O)C,,\nCCN,,7\n"
    molecules = from_smiles_csv(table(text), columns=("dock", "logd"))
    assert molecules.smiles == ("CCO", "CCN")
    same(molecules.columns, [[2.5, 2.0], [NAN, 7.0]])


def test_smiles_may_have_columns_in_any_array(molecules):
    assert molecules.column_names == ("dock", "logd")
    same(molecules.columns, [[1, 0.5], [NAN, 0.25], [3, 0]])
    for bad, error, message in (
        ({"dock": [1, 2]}, ValueError, "`columns`"),
        ({"dock": [1, np.inf, 2]}, ValueError, r"Got inf in row 2 \(`CCN`\) of column `dock`"),
        ({"dock": ["1", "2", "3"]}, ValueError, "to be numbers, NaN where a value is not known"),
        ({"": [1, 2, 3]}, ValueError, "not empty"),
    ):
        with pytest.raises(error, match=message):
            from_smiles(["CCO", "CCN", "CCC"], columns=bad)


def test_more_columns_follow_and_known_values_stay(molecules):
    more = molecules.with_columns(("mass", "dock"), [[1, 7], [NAN, 8], [3, 9]])
    assert more.column_names == ("dock", "logd", "mass")
    same(more.columns, [[1, 0.5, 1], [8, 0.25, NAN], [3, 0, 3]])
    assert (more.smiles, more.ids) == (molecules.smiles, molecules.ids)
    same(molecules.columns, [[1, 0.5], [NAN, 0.25], [3, 0]])


def test_joined_molecules_have_the_columns_of_both(molecules):
    other = from_smiles(["CCN", "CCF", "CCO"], columns={"logd": [9, 0.75, NAN], "dock": [5, 6, NAN]})
    both = molecules.join(other)
    assert both.smiles == ("CCO", "CCN", "CCC", "CCF")
    assert both.column_names == ("dock", "logd")
    same(both.columns, [[1, 0.5], [NAN, 0.25], [3, 0], [6, 0.75]])


def test_the_digest_has_the_columns_only_where_there_are_some(molecules):
    plain = from_smiles(molecules.smiles)
    assert digest(plain) == digest(MoleculeSet(molecules, molecules.smiles))
    digests = {digest(plain), digest(molecules)}
    digests.add(digest(plain.with_columns(("dock", "logd"), [[1, 0.5], [0, 0.25], [3, 0]])))
    digests.add(digest(plain.with_columns(("dock", "mass"), molecules.columns)))
    assert len(digests) == 4
    signed = np.where(molecules.columns == 0, -0.0, molecules.columns)
    assert digest(plain.with_columns(molecules.column_names, signed)) == digest(molecules)
