"""Columns of numbers that users give for molecules, from tables and from lists of SMILES."""

import gzip
import pickle

import numpy as np
import openpyxl
import pandas as pd
import pytest

from graph_bandit_env import MoleculeSet, from_smiles, from_smiles_csv
from graph_bandit_env.files import digest
from graph_bandit_env.pools.molecule_columns import mean_of_known
from graph_bandit_env.pools.molecule_rows import BadRowsError
from graph_bandit_env.tables.table import LARGEST

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


def test_without_columns_there_are_none(table):
    molecules = from_smiles_csv(table(), target="y")
    assert molecules.columns.shape == (3, 0)
    assert molecules.column_names == ()
    assert "columns" not in repr(molecules)


def test_decimal_commas_are_read_where_semicolons_separate_the_cells(table):
    molecules = from_smiles_csv(table("smiles;dock\nCCO;-7,5\nCCN;1,5E-3\n"), columns=["dock"])
    same(molecules.columns, [[-7.5], [0.0015]])
    with pytest.raises(BadRowsError, match="line 2: expected a number in `dock`. Got '-7,5'. Write 3.5"):
        from_smiles_csv(table('smiles,dock\nCCO,"-7,5"\n'), columns=["dock"])


@pytest.mark.parametrize("kind", ["csv.gz", "xlsx", "parquet", "sdf"])
def test_every_kind_of_table_has_columns(table, tmp_path, kind):
    path = tmp_path / f"pool.{kind}"
    frame = pd.DataFrame({"id": list("abc"), "smiles": ["CCO", "CCN", "CCC"], "dock": [-7.5, None, -9.0]})
    if kind == "csv.gz":
        path = table(frame.to_csv(index=False), "pool.csv.gz")
    elif kind == "xlsx":
        book = openpyxl.Workbook()
        for row in [list(frame.columns), *frame.astype(object).where(frame.notna(), None).to_numpy().tolist()]:
            book.active.append(row)
        book.save(path)
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        from rdkit import Chem

        with Chem.SDWriter(str(path)) as writer:
            for row in frame.itertuples():
                molecule = Chem.MolFromSmiles(row.smiles)
                molecule.SetProp("_Name", row.id)
                if row.dock == row.dock:
                    molecule.SetDoubleProp("dock", row.dock)
                writer.write(molecule)
    same(from_smiles_csv(path, identifier="id", columns=("dock",)).columns, [[-7.5], [NAN], [-9.0]])


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("strong", "line 3: expected a number in `dock`. Got 'strong'."),
        ("-inf", "line 3: expected a finite number in `dock`. Got '-inf'."),
        ("1e101", "line 3: expected a number from -1e.100 to 1e.100 in `dock`. Got '1e101'."),
        ("2024-05-01", "line 3: expected a number in `dock`. Got '2024-05-01'. That is a date"),
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


def test_a_column_without_any_number_is_refused(table):
    with pytest.raises(ValueError, match=r"at least one number in column `dock` of .*pool.csv. Got none"):
        from_smiles_csv(table("smiles,dock\nCCO,\nCCN,n/a\n"), columns=("dock",))
    with pytest.raises(ValueError, match="at least one number in column `dock` of the list"):
        from_smiles(["CCO"], columns={"dock": [NAN]})


def test_a_missing_column_and_the_target_as_a_column_are_refused(table):
    with pytest.raises(ValueError, match=r"Expected a column `dok` in .* Did you mean `dock`\?"):
        from_smiles_csv(table(), columns=("dok",))
    with pytest.raises(ValueError, match="`columns` without the target, which an agent is to predict. Got `y`"):
        from_smiles_csv(table(), target="y", columns=("dock", "y"))
    with pytest.raises(ValueError, match="Expected a column `dock` in .*pool.smi. It has smiles, id"):
        from_smiles_csv(table("CCO a\n", "pool.smi"), columns=("dock",))


@pytest.mark.parametrize(("names", "error"), [("dock", TypeError), (("dock", "dock"), ValueError), ((1,), TypeError)])
def test_names_of_columns_are_a_list_of_different_texts(table, names, error):
    with pytest.raises(error, match="names of columns"):
        from_smiles_csv(table(), columns=names)


def test_rows_of_one_molecule_have_the_mean_of_what_is_known(table):
    text = "smiles,dock,logd\nCCO,1,\nOCC,4,2\nC(O)C,,\nCCN,,7\n"
    molecules = from_smiles_csv(table(text), columns=("dock", "logd"))
    assert molecules.smiles == ("CCO", "CCN")
    same(molecules.columns, [[2.5, 2.0], [NAN, 7.0]])


def test_the_mean_of_what_is_known_is_that_of_pandas():
    generator = np.random.default_rng(0)
    values, groups = generator.normal(size=(60, 3)), generator.integers(9, size=60)
    values[generator.random(values.shape) < 0.6] = NAN
    expected = pd.DataFrame(values).groupby(groups).mean().reindex(range(10)).to_numpy()
    np.testing.assert_allclose(mean_of_known(values, groups, 10), expected, rtol=1e-14)


def test_the_cache_of_parsed_molecules_knows_nothing_of_columns(table, cache_folder):
    path = table()
    with_columns = from_smiles_csv(path, columns=("dock",))
    path.write_text(TABLE.replace("-7.5", "8.5"))
    same(from_smiles_csv(path, columns=("dock",)).columns[:1], [[8.5]])
    same(from_smiles_csv(path, columns=("logd",)).columns, [row[:1] for row in EXPECTED])
    assert from_smiles_csv(path).columns.shape == (3, 0)
    path.write_text(TABLE.replace("-7.5", "bad"))
    left = from_smiles_csv(path, columns=("dock",), on_error="skip")
    assert left.smiles == with_columns.smiles[1:]
    assert [len(graph.nodes) for graph in left] == [3, 3]
    assert from_smiles_csv(path).smiles == with_columns.smiles
    assert len(list(cache_folder.iterdir())) == 2  # of all rows, and of those that are not bad


def test_smiles_may_have_columns_in_any_array(molecules):
    assert molecules.column_names == ("dock", "logd")
    same(molecules.columns, [[1, 0.5], [NAN, 0.25], [3, 0]])
    for bad, error, message in (
        ({"dock": [1, 2]}, ValueError, "Expected 3 numbers in column `dock`"),
        ({"dock": [1, np.inf, 2]}, ValueError, r"Got inf in row 2 \(`CCN`\) of column `dock`"),
        ({"dock": ["1", "2", "3"]}, TypeError, "to be numbers, NaN where a value is not known"),
        ({"": [1, 2, 3]}, ValueError, "not empty"),
    ):
        with pytest.raises(error, match=message):
            from_smiles(["CCO", "CCN", "CCC"], columns=bad)


def test_columns_cannot_be_written_to(molecules):
    with pytest.raises(ValueError, match="read-only"):
        molecules.columns[0, 0] = 2.0


def test_a_set_refuses_columns_that_do_not_fit_it(molecules):
    def remake(columns, names):
        return MoleculeSet(molecules, molecules.smiles, molecules.ids, columns=columns, column_names=names)

    with pytest.raises(ValueError, match=r"`columns` of shape `\(3, 1\)`.*Got `\(3, 2\)`"):
        remake(np.zeros((3, 2)), ("dock",))
    with pytest.raises(ValueError, match=r"`columns` of shape `\(3, 2\)`.*Got `\(2, 2\)`"):
        remake(np.zeros((2, 2)), ("dock", "logd"))
    with pytest.raises(ValueError, match=r"Got -inf in row 3 \(`c`\) of column `logd`"):
        remake([[0, 0], [0, 0], [0, -np.inf]], ("dock", "logd"))
    with pytest.raises(ValueError, match=r"`columns` of shape `\(3, 1\)`"):
        remake(None, ("dock",))


def test_a_part_has_its_columns(molecules):
    part = molecules.take([2, 0])
    same(part.columns, [[3, 0], [1, 0.5]])
    assert part.column_names == molecules.column_names


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
    same(both.columns, [[1, 0.5], [5, 0.25], [3, 0], [6, 0.75]])


def test_molecules_without_columns_join_with_nan(molecules):
    plain = from_smiles(["CCF", "CCO"])
    same(molecules.join(plain).columns, [[1, 0.5], [NAN, 0.25], [3, 0], [NAN, NAN]])
    joined = plain.join(molecules)
    assert joined.column_names == ("dock", "logd")
    same(joined.columns, [[NAN, NAN], [1, 0.5], [NAN, 0.25], [3, 0]])
    assert plain.join(plain).columns.shape == (2, 0)


def test_molecules_with_other_columns_do_not_join(molecules):
    other = from_smiles(["CCF"], columns={"dock": [6], "mass": [1]})
    with pytest.raises(ValueError, match="Only one of the two sets has `logd`"):
        molecules.join(other)


def test_the_digest_has_the_columns_only_where_there_are_some(molecules):
    plain = from_smiles(molecules.smiles)
    assert digest(plain) == digest(MoleculeSet(molecules, molecules.smiles))
    digests = {digest(plain), digest(molecules)}
    digests.add(digest(plain.with_columns(("dock", "logd"), [[1, 0.5], [0, 0.25], [3, 0]])))
    digests.add(digest(plain.with_columns(("dock", "mass"), molecules.columns)))
    assert len(digests) == 4
    signed = np.where(molecules.columns == 0, -0.0, molecules.columns)
    assert digest(plain.with_columns(molecules.column_names, signed)) == digest(molecules)


def test_a_set_goes_to_another_process_as_it_is():
    molecules = from_smiles(
        ["CCO", "OCC", "CCN"], [1.0, 3.0, 2.0], ids=["a", "b", "c"], columns={"dock": [1.0, 1.0, 2.0]}
    )
    copy = pickle.loads(pickle.dumps(molecules))
    assert copy.smiles == molecules.smiles
    assert copy.ids == molecules.ids
    assert dict(copy.aliases) == dict(molecules.aliases) == {"b": "a"}
    assert copy.targets.tolist() == [2.0, 2.0]
    assert copy.columns.tolist() == [[1.0], [2.0]]
    assert len(copy) == 2
    with pytest.raises(TypeError):
        copy.aliases["b"] = "c"


@pytest.mark.parametrize("sign", [1, -1])
def test_a_number_may_be_as_large_as_the_largest(sign):
    assert from_smiles(["CCO"], columns={"dock": [sign * LARGEST]}).columns.tolist() == [[sign * LARGEST]]
    with pytest.raises(ValueError, match="in row 1 .* of column `dock`"):
        from_smiles(["CCO"], columns={"dock": [sign * np.nextafter(LARGEST, np.inf)]})
