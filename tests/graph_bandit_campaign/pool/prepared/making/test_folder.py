"""A finished pool that was damaged is repaired, as far as it has to be."""

import pytest
from support.messy import messy_table, prepare_small

from graph_bandit_campaign import PreparedPool, PrepareSettings
from graph_bandit_campaign.pool.prepared.making import run, work


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(PrepareSettings, "block", 8)


@pytest.fixture
def made(tmp_path):
    """Return a table, and the folder of its pool."""
    table = tmp_path / "pool.csv"
    table.write_text(messy_table(60, seed=3))
    prepare_small(table, tmp_path / "out")
    return table, tmp_path / "out"


@pytest.fixture
def numbers(monkeypatch):
    """Return a list that gets the number of each part that is made from now on."""
    found = []
    monkeypatch.setattr(run, "make_part", lambda *task: [found.append(task[1]), work.make_part(*task)][1])
    return found


def files_of(path):
    return {each.name: each.read_bytes() for each in path.iterdir()}


def damage(out):
    (out / "part-00001.parquet").unlink()
    content = bytearray((out / "part-00003.parquet").read_bytes())
    content[100] ^= 1
    (out / "part-00003.parquet").write_bytes(content)


def test_damaged_and_missing_parts_alone_are_made_again(made, numbers):
    table, out = made
    before = files_of(out)
    prepare_small(table, out)
    damage(out)
    with pytest.raises(ValueError, match=r"part-00001\.parquet"):
        PreparedPool.open(out)
    numbers.clear()
    prepare_small(table, out)
    assert numbers == [1, 3]
    assert files_of(out) == before
