"""A pool is read by the form that the name of its file tells, or made by its own name."""

import gzip
import subprocess
import sys

import pytest

from graph_bandit_env import MoleculeSet, enumerate_library, from_smiles
from graph_bandit_env.files import digest, holds_molecules, read_pool
from graph_bandit_env.pools import library

pytest.importorskip("rdkit")
ROWS = [("CCO", "a", 0.5), ("c1ccccc1", "b", -1.25), ("CC(=O)O", "c", 1e-7), ("[Na+].[Cl-]", "d", 0.0)]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "pool.csv"
    lines = ["smiles,name,activity", *(f"{smiles},{name},{value!r}" for smiles, name, value in ROWS)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def packed(table):
    path = table.with_name("packed.csv.gz")
    path.write_bytes(gzip.compress(table.read_bytes()))
    return path


def parquet(table):
    pa, writer = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = dict(zip(("smiles", "name", "activity"), map(list, zip(*ROWS, strict=True)), strict=True))
    path = table.with_name("POOL.parquet")
    writer.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("save", [str, packed, parquet])
def test_a_table_of_molecules_is_one_pool_in_every_form(table, save):
    pool = read_pool(save(table), "activity", identifier="name")
    assert isinstance(pool, MoleculeSet)
    assert pool.ids == ("a", "b", "c", "d")
    smiles, _, values = zip(*ROWS, strict=True)
    assert digest(pool) == digest(from_smiles(smiles, values))


def test_bad_rows_of_molecules_can_be_skipped(table):
    table.write_text(table.read_text(encoding="utf-8") + "\nXX,e,2", encoding="utf-8")
    with pytest.raises(ValueError, match="line 6"):
        read_pool(table, "activity")
    assert len(read_pool(table, "activity", on_error="skip").skipped) == 1


def test_options_of_molecules_reach_their_reader(table):
    with pytest.raises(ValueError, match="column `structure`"):
        read_pool(table, smiles="structure")
    with pytest.raises(ValueError, match="line 2: .*more than `most_atoms`, 2"):
        read_pool(table, most_atoms=2)


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("pool.csv", "smiles,cellstr", True),
        ("pool.csv", "SMILES,cellstr", True),
        ("pool.csv", "id,cellstr", False),
        ("pool.csv", "id,name", True),
        ("pool.jsonl", "{}", False),
        ("pool.PT", "", False),
        ("pool.xls", "", True),
    ],
)
def test_other_graphs_are_told_from_tables_of_molecules(tmp_path, name, head, expected):
    path = tmp_path / name
    path.write_text(head + "\n", encoding="utf-8")
    assert holds_molecules(path) == expected
    assert holds_molecules(tmp_path / "none.jsonl")


def test_the_library_has_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(library, "SCAFFOLDS", library.SCAFFOLDS[:1])  # all of them take seconds
    (tmp_path / "library").write_text("a file of that name does not matter", encoding="utf-8")
    pool = read_pool("library", "tpsa")
    assert pool.ids == enumerate_library().ids
    assert pool.targets.max() > 50  # square angstroms; qed is at most 1


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("libary", None, "Unknown pool `libary`. Did you mean `library`?"),
        ("pool", None, r"Unknown pool `pool`. Give the name library, or a file that ends in .csv, .*\.jsonl.*\.pt"),
        ("library", "qde", "Unknown target of the library `qde`. Did you mean `qed`?"),
    ],
)
def test_an_unknown_name_is_refused(source, target, expected):
    with pytest.raises(ValueError, match=expected):
        read_pool(source, target)


@pytest.mark.parametrize("name", ["pool.pkl", "pool.pt.gz", "pool.csv.zip", "pool.xlsx.gz", "folder/pool"])
def test_an_unknown_form_is_refused_with_a_list_of_all(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    with pytest.raises(
        ValueError, match=r"Expected a file that ends in \.csv, .*\.parquet, \.jsonl, \.jsonl\.gz, \.pt\."
    ):
        read_pool(path)


@pytest.mark.parametrize("name", ["none.csv", "none.jsonl", "none.pt", "none.pkl", "."])
def test_a_missing_file_is_refused(tmp_path, name):
    with pytest.raises(FileNotFoundError, match="Expected a file of graphs. Got .*, which is not a file"):
        read_pool(tmp_path / name)


@pytest.mark.parametrize(
    "name", ["a.csv", "a.csv.gz", "a.smi", "a.sdf", "a.xlsx", "a.parquet", "a.jsonl", "a.jsonl.gz", "a.pt"]
)
def test_an_empty_file_is_refused(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(ValueError, match="Expected"):
        read_pool(tmp_path / name)


def test_a_damaged_packed_table_is_refused(table):
    path = packed(table)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match="to be complete"):
        read_pool(path)


def test_the_nearest_column_is_named(table):
    with pytest.raises(ValueError, match="Expected a column `actvity` .* Did you mean `activity`?"):
        read_pool(table, "actvity")


def test_a_target_without_any_value_is_refused(table):
    table.write_text("smiles,activity\nCCO,\nCCN,n/a\n", encoding="utf-8")
    with pytest.raises(ValueError, match="Expected measured values in `activity` of .*pool.csv. Got none"):
        read_pool(table, "activity")


@pytest.mark.parametrize("name", ["a.jsonl", "a.pt"])
def test_a_sheet_is_refused_but_of_a_workbook(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(ValueError, match=f"sheet `one`.*{name}"):
        read_pool(tmp_path / name, sheet="one")


@pytest.mark.parametrize("name", ["rings.jsonl", "rings.pt", "cells.csv", "library"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_error": "skip"}, "where bad rows can be skipped. Got {}. Leave this option out"),
        ({"columns": ["dock"]}, "with numbers in a column `dock`. Got {}."),
        ({"smiles": "structure"}, "with SMILES in a column `structure`. Got {}. Leave this option out"),
    ],
)
def test_options_of_tables_of_molecules_are_refused_elsewhere(tmp_path, name, options, message):
    (tmp_path / name).write_text("cellstr,value\n" * name.endswith(".csv"))
    with pytest.raises(ValueError, match=f"Expected a table of molecules, {message.format(name)}"):
        read_pool(name if name == "library" else tmp_path / name, **options)


def test_an_unknown_way_to_treat_errors_is_refused(table):
    with pytest.raises(ValueError, match="Unknown on_error `skp`. Did you mean `skip`?"):
        read_pool(table, on_error="skp")


def test_the_import_is_light():
    heavy = ("torch", "torch_geometric", "networkx", "rdkit", "pandas", "pyarrow")
    code = f"import sys, graph_bandit_env.files; print(set({heavy!r}) & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
