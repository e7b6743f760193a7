from pathlib import Path

import pytest
from support.messy import assert_as_in_memory, messy_table, prepare_small

from graph_bandit_campaign import PrepareSettings, prepare


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(PrepareSettings, "block", 8)


@pytest.mark.parametrize(
    ("seed", "part_rows", "name"), [(0, 8, "name"), (3, 24, "id"), (4, 24, "id"), (4, 24, "Compound"), (5, 800, "id")]
)
def test_a_prepared_pool_is_the_pool_in_memory(tmp_path, seed, part_rows, name):
    table = tmp_path / "pool.csv"
    table.write_text(messy_table(150, seed, ids=seed != 3).replace("id", name, 1))
    pool = prepare_small(table, tmp_path / "out", part_rows)
    expected = assert_as_in_memory(pool, table)
    assert expected.merged
    assert expected.skipped


def test_the_pool_depends_on_the_table_alone_not_on_who_computes_it(tmp_path):
    table = tmp_path / "pool.csv"
    table.write_text(messy_table(120))
    pool = prepare_small(table, tmp_path / "two", 40, workers=2)
    prepare_small(table, tmp_path / "one", 40)
    files = [{path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two")]
    assert files[0] == files[1]
    assert_as_in_memory(pool, table)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"part_rows": 12}, "part.rows"),
        ({"descriptors": ("ecfp", "magic")}, "magic"),
        ({"out": Path("pool.csv")}, "pool.csv"),
        ({"workers": -1}, "workers"),
    ],
)
def test_bad_settings_are_refused(tmp_path, monkeypatch, changes, message):
    monkeypatch.chdir(tmp_path)
    Path("pool.csv").write_text("smiles\nCC\n")
    with pytest.raises(ValueError, match=message):
        prepare(PrepareSettings(**{"pool": Path("pool.csv"), "out": Path("out"), "part_rows": 8, **changes}))
    assert not list(Path("out").glob("*.parquet"))
