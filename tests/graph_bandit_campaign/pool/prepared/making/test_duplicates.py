from support.messy import assert_as_in_memory, messy_table, prepare_small

from graph_bandit_campaign import PrepareSettings
from graph_bandit_campaign.pool.prepared.making import duplicates
from graph_bandit_campaign.pool.prepared.making.duplicates import count_buckets


def test_many_small_buckets_find_what_one_finds(tmp_path, monkeypatch):
    monkeypatch.setattr(PrepareSettings, "block", 8)
    table = tmp_path / "pool.csv"
    table.write_text(messy_table(200, 1))
    prepare_small(table, tmp_path / "one")
    monkeypatch.setattr(duplicates, "IN_MEMORY", 20)
    pool = prepare_small(table, tmp_path / "many")
    assert count_buckets(180) == 9
    assert_as_in_memory(pool, table, identifier="id")
    for name in ("merged.parquet", "dropped.parquet", "bad_rows.csv", "manifest.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "many" / name).read_bytes()
