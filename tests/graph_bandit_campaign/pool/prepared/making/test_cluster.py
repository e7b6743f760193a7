import pytest
from support.messy import assert_as_in_memory, messy_table, prepare_small

from graph_bandit_campaign import PrepareSettings


@pytest.mark.slow
def test_the_workers_of_a_cluster_prepare_the_same_pool(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(PrepareSettings, "block", 8)
    table = tmp_path / "pool.csv"
    table.write_text(messy_table(120))
    options = {"processes": False, "protocol": "tcp", "dashboard_address": ":0", "host": "127.0.0.1"}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, **options) as cluster:
        pool = prepare_small(table, tmp_path / "out", scheduler=cluster.scheduler_address)
    prepare_small(table, tmp_path / "alone")
    assert (tmp_path / "out" / "manifest.json").read_bytes() == (tmp_path / "alone" / "manifest.json").read_bytes()
    assert_as_in_memory(pool, table)
