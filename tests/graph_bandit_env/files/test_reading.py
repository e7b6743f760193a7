"""A pool is read by the form that the name of its file tells, or made by its own name."""

import pytest
from rdkit import Chem
from rdkit.Chem.rdMolDescriptors import CalcTPSA
from support import ROOT
from support.programs import run_program

from graph_bandit_env import enumerate_library
from graph_bandit_env.files import read_pool
from graph_bandit_env.pools import library


def test_the_library_has_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(library, "SCAFFOLDS", library.SCAFFOLDS[:1])  # all of them take seconds
    (tmp_path / "library").write_text("a file of that name does not matter", encoding="utf-8")
    pool = read_pool("library", "tpsa")
    assert pool.ids == enumerate_library().ids
    assert pool.targets[100] == CalcTPSA(Chem.MolFromSmiles(pool.smiles[100]))


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
