import numpy as np
import pytest
from support.messy import assert_as_in_memory, messy_table, prepare_small

from graph_bandit_campaign import PrepareSettings
from graph_bandit_campaign.pool.prepared.making import duplicates
from graph_bandit_campaign.pool.prepared.making.duplicates import DROP, Buckets, count_buckets


@pytest.mark.parametrize("seed", range(3))
def test_many_small_buckets_find_what_one_finds(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(PrepareSettings, "block", 8)
    table = tmp_path / "pool.csv"
    table.write_text(messy_table(200, seed))
    prepare_small(table, tmp_path / "one")
    monkeypatch.setattr(duplicates, "IN_MEMORY", 20)
    pool = prepare_small(table, tmp_path / "many")
    assert count_buckets(180) == 9
    assert_as_in_memory(pool, table, identifier="id")
    for name in ("merged.parquet", "dropped.parquet", "bad_rows.csv", "manifest.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "many" / name).read_bytes()


def test_records_come_back_from_their_bucket_in_order_once(tmp_path):
    buckets = Buckets(tmp_path, "some", DROP, 3)
    for start in (0, 10):
        records = np.zeros(10, DROP)
        records["place"] = np.arange(start, start + 10)
        buckets.add(records, records["place"] % 2)
    assert buckets.read(1)["place"].tolist() == list(range(1, 20, 2))
    assert len(buckets.read(1)) == len(buckets.read(2)) == 0
    assert len(list(tmp_path.iterdir())) == 1
