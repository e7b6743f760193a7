"""A pool is read by the form that the name of its file tells, or made by its own name."""

import gzip

import pytest
from support import ROOT
from support.programs import run_program

from graph_bandit_env import MoleculeSet, enumerate_library, from_smiles
from graph_bandit_env.files import digest, read_pool
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


def test_the_library_has_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(library, "SCAFFOLDS", library.SCAFFOLDS[:1])  # all of them take seconds
    (tmp_path / "library").write_text("a file of that name does not matter", encoding="utf-8")
    pool = read_pool("library", "tpsa")
    assert pool.ids == enumerate_library().ids
    assert pool.targets.max() > 50  # square angstroms; qed is at most 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "edges"),
    [
        ("cellstr,y\n|skip_connect~0|+|none~0|none~1|+|none~0|nor_conv_3x3~1|none~2|,2\n", [[0, 1], [1, 3], [2, 0]]),
        ("link,ops,y\n0013,gcn|gat|skip|fc,2\n", [[0, 1], [0, 2], [1, 3], [2, 5], [3, 4], [4, 5]]),
    ],
)
def test_tables_of_nas_benchmarks_are_written_as_graphs(tmp_path, table, edges):
    (tmp_path / "table.csv").write_text(table)
    assert run_program(ROOT / "examples" / "nas_cells.py", "table.csv", "out.jsonl", cwd=tmp_path).returncode == 0
    pool = read_pool(tmp_path / "out.jsonl", "y")
    assert (pool[0].edge_links.tolist(), pool.targets.tolist(), pool.directed) == (edges, [2.0], True)
