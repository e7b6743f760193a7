"""A finished pool that was damaged is repaired, as far as it has to be."""

import shutil

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


def test_damaged_and_missing_parts_alone_are_made_again(made, numbers, capsys):
    table, out = made
    before = files_of(out)
    prepare_small(table, out)
    damage(out)
    with pytest.raises(ValueError, match="part-00001.parquet .*There is no such file.*it repairs this part"):
        PreparedPool.open(out)
    numbers.clear()
    assert prepare_small(table, out, dry_run=True) is None
    told = "part-00001.parquet is missing, part-00003.parquet is damaged: made again, of 4 parts."
    assert told in capsys.readouterr().err
    pool = prepare_small(table, out)
    said = capsys.readouterr().err
    assert told in said
    assert f"About {sum(pool.parts[k].record.read for k in (1, 3))} rows to prepare" in said
    assert numbers == [1, 3]
    assert files_of(out) == before
    list(pool)


def test_another_table_repairs_nothing(made, numbers, tmp_path):
    table, out = made
    damage(out)
    before = files_of(out)
    other = shutil.copyfile(table, tmp_path / "other.csv")
    other.write_text(other.read_text().replace("CCO", "CCN", 1))
    with pytest.raises(ValueError, match="another table, or the same one before it was changed"):
        prepare_small(other, out)
    assert (files_of(out), numbers) == (before, [])
