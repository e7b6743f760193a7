import numpy as np
import pytest
from support.messy import assert_as_in_memory, messy_table, prepare_small

from graph_bandit_campaign import PrepareSettings


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a table, and its pool in parts of 16 and of 48 rows."""
    folder = tmp_path_factory.mktemp("pool")
    table = folder / "pool.csv"
    table.write_text(messy_table(160, seed=7))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PrepareSettings, "block", 8)
        return table, prepare_small(table, folder / "sixteen", 16), prepare_small(table, folder / "more", 48)


def test_blocks_are_the_same_whatever_the_size_of_parts(made):
    _, one, other = made
    blocks, others = list(one), list(other.blocks(columns=["score", "vendor, name"]))
    assert [block.ids for block in blocks] == [block.ids for block in others]
    assert [block.smiles for block in blocks] == [block.smiles for block in others]
    assert one.manifest.moments == other.manifest.moments
    assert max(map(len, blocks)) <= 8


def test_molecules_are_found_by_name_alias_and_smiles_and_taken_by_place(made):
    table, pool, _ = made
    molecules = assert_as_in_memory(pool, table)
    names, aliases = list(molecules.ids[::5]), dict(molecules.aliases)
    by_id, by_smiles = pool.find([*names, *aliases, "nobody"], [molecules.smiles[3], "CCCCCCCCCCCCCCCCCC"])
    assert by_id.keys() == {*names, *aliases}
    assert list(by_smiles) == [molecules.smiles[3]]
    block = pool.take([by_id[name] for name in (*reversed(names), *aliases)], columns=["score"])
    assert block.ids == [*reversed(names), *aliases.values()]
    where = {name: k for k, name in enumerate(molecules.ids)}
    rows = [where[name] for name in block.ids]
    expected = molecules.columns[rows, :1]
    np.testing.assert_array_equal(block.numbers(["score"]), expected)
    assert list(block.smiles) == [molecules.smiles[k] for k in rows]
    forms = zip(names, pool.forms([by_id[name] for name in names]), strict=True)
    found = {alias: name for name, repeated in forms for alias, _ in repeated}
    assert found == {alias: name for alias, name in aliases.items() if name in names}


def test_cells_are_those_of_all_rows_of_a_molecule_in_their_order(made):
    table, pool, _ = made
    lines = table.read_text().splitlines()
    for block in pool.blocks(columns=["vendor, name", "log"]):
        cells = block.cells
        assert (np.diff(cells.owners) >= 0).all()
        assert set(cells.owners.tolist()) == set(range(len(block)))
        for owner in range(len(block)):
            assert (np.diff(cells.rows[cells.owners == owner]) > 0).all()
        for row, text in zip(cells.rows, cells.texts["log"], strict=True):
            assert lines[row - 1].split(",")[-1] == text or lines[row - 1].endswith(f"{text},surplus")
