import sys
from pathlib import Path

import pytest
from support.messy import assert_as_in_memory, messy_table, prepare_small

from graph_bandit_campaign import PrepareSettings, prepare
from graph_bandit_env.extras import MissingExtraError


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(PrepareSettings, "block", 8)


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".parquet", ".csv")}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("part_rows", [8, 24, 800])
def test_a_prepared_pool_is_the_pool_in_memory(tmp_path, seed, part_rows):
    table = tmp_path / "pool.csv"
    table.write_text(messy_table(150, seed, ids=seed != 3))
    pool = prepare_small(table, tmp_path / "out", part_rows)
    expected = assert_as_in_memory(pool, table, identifier="id" if seed != 3 else None)
    assert expected.merged > 10
    assert len(expected.skipped) > 10
    assert seed == 3 or sum("is another molecule in line" in text for _, text in expected.skipped) > 4
    assert len(pool.parts) == -(
        -(pool.manifest.rows - sum("cells" in text for _, text in expected.skipped)) // part_rows
    )


def test_the_pool_depends_on_the_table_alone_not_on_the_number_of_processes(tmp_path):
    table = tmp_path / "pool.csv"
    table.write_text(messy_table(200))
    prepare_small(table, tmp_path / "one", 40)
    pool = prepare_small(table, tmp_path / "two", 40, workers=2)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")
    assert (tmp_path / "one" / "manifest.json").read_bytes() == (tmp_path / "two" / "manifest.json").read_bytes()
    assert_as_in_memory(pool, table, identifier="id")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"part_rows": 12}, "multiple of 8"),
        ({"part_rows": 0}, "multiple of 8"),
        ({"most_atoms": 0}, "at least 1"),
        ({"traits": ()}, "Got none"),
        ({"traits": ("morgan", "magic")}, "some of atom_pairs.*Got morgan, magic"),
        ({"out": Path("pool.csv")}, "another folder"),
        ({"workers": -1}, "at least 0"),
    ],
)
def test_bad_settings_are_refused(tmp_path, monkeypatch, changes, message):
    monkeypatch.chdir(tmp_path)
    Path("pool.csv").write_text("smiles\nCC\n")
    with pytest.raises(ValueError, match=message):
        prepare(PrepareSettings(**{"pool": Path("pool.csv"), "out": Path("out"), "part_rows": 8, **changes}))
    assert not list(Path("out").glob("*.parquet"))


@pytest.mark.parametrize(("package", "name"), [("pyarrow", "pyarrow"), ("rdkit", "RDKit")])
def test_a_missing_package_is_named(tmp_path, monkeypatch, package, name):
    (tmp_path / "pool.csv").write_text("smiles\nCC\n")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=f"Preparing a pool needs {name}: pip install"):
        prepare_small(tmp_path / "pool.csv", tmp_path / "out")


def test_a_pool_of_one_part_is_told_in_the_singular_and_without_what_there_is_not(tmp_path, capsys):
    table = tmp_path / "pool.csv"
    table.write_text("smiles\nCCO\nCCN\n")
    prepare_small(table, tmp_path / "out")
    prepare_small(table, tmp_path / "out")
    assert capsys.readouterr().out.splitlines()[-1] == (
        f"{tmp_path / 'out'} is finished already: 2 molecules in 1 part, named by their SMILES, since the table has no "
        "names."
    )
