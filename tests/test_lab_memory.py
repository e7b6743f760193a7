import gzip

import pytest

from graph_bandit_lab import memory


def test_a_pool_that_does_not_fit_is_refused_with_what_would(tmp_path, monkeypatch):
    path = tmp_path / "pool.csv.gz"
    path.write_bytes(gzip.compress(b"smiles\n" + b"C\n" * 99_999))
    monkeypatch.setattr(memory, "available_memory", lambda: 4.5e9)
    memory.check_memory(path)
    monkeypatch.setattr(memory, "available_memory", lambda: 0.9e9)
    with pytest.raises(ValueError, match=r"100,000 rows, which need about 4.5 GB; 0.9 GB .* of at most 10,000 rows"):
        memory.check_memory(path)


def test_the_limit_of_a_container_counts(tmp_path, monkeypatch):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "CGROUP_LIMIT", limit)
    limit.write_text("max\n")
    unlimited = memory.available_memory()
    assert unlimited > 1e8
    limit.write_text("1000000\n")
    assert memory.available_memory() == 1e6


def test_rows_of_any_table_are_counted(tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"smiles": ["C"] * 7}).to_parquet(tmp_path / "pool.parquet")
    assert memory.count_rows(tmp_path / "pool.parquet") == 7
    assert memory.count_rows(tmp_path / "nowhere.csv") == 0
