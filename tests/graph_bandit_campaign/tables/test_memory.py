import gzip
import math

import pytest

from graph_bandit_campaign.tables import memory


def test_a_pool_that_does_not_fit_is_refused_with_what_would(tmp_path, monkeypatch):
    path = tmp_path / "pool.csv.gz"
    path.write_bytes(gzip.compress(b"smiles\n" + b"C\n" * 99_999))
    monkeypatch.setattr(memory, "available_memory", lambda: 4.5e9)
    memory.check_memory(path)
    monkeypatch.setattr(memory, "available_memory", lambda: 0.9e9)
    with pytest.raises(
        ValueError, match=r"100,000 rows, which with 0 results need about 4.5 GB, and 0.9 GB .* at most 10,000 rows"
    ):
        memory.check_memory(path)


def test_results_count_too(tmp_path, monkeypatch):
    pool, results = tmp_path / "pool.csv", tmp_path / "results.csv"
    pool.write_text("smiles\nC\n")
    results.write_text("id,y\n" + "a,1\n" * 9_999)
    monkeypatch.setattr(memory, "available_memory", lambda: 2e9)
    memory.check_memory(pool)
    with pytest.raises(ValueError, match="2 rows, which with 10,000 results need about 3.0 GB"):
        memory.check_memory(pool, [results])


def test_what_is_free_is_what_the_system_and_the_container_say(tmp_path, monkeypatch):
    files = {name: tmp_path / name for name in ("MEMORY", "LIMIT", "USED")}
    for name, path in files.items():
        monkeypatch.setattr(memory, name, path)
    assert memory.available_memory() == math.inf
    files["MEMORY"].write_text("MemTotal:  9 kB\nMemFree:  1 kB\nMemAvailable:   4000 kB\n")
    files["LIMIT"].write_text("max\n")
    files["USED"].write_text("1000000\n")
    assert memory.available_memory() == 4_096_000
    files["LIMIT"].write_text("3000000\n")
    assert memory.available_memory() == 2_000_000


def test_this_machine_has_some_memory():
    assert memory.available_memory() > 1e8


def test_rows_of_any_table_are_counted(tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"smiles": ["C"] * 7}).to_parquet(tmp_path / "pool.parquet")
    assert memory.count_rows(tmp_path / "pool.parquet") == 7
    assert memory.count_rows(tmp_path / "nowhere.csv") == 0
