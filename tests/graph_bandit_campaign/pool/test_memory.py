import gzip
from types import SimpleNamespace

import pytest

from graph_bandit_campaign import SuggestSettings, suggest
from graph_bandit_campaign.pool import table as memory


@pytest.fixture
def folder(tmp_path):
    with gzip.open(tmp_path / "pool.csv.gz", "wt") as file:
        file.write("id,smiles\n" + "".join(f"m{k},C{k}\n" for k in range(99_999)))
    return tmp_path


@pytest.mark.parametrize(
    ("agent", "needed", "most"),
    [(None, "1.0", "80,000"), ("molecule-ei", "1.0", "80,000"), ("gnn-ts", "4.5", "10,000")],
)
def test_a_pool_that_does_not_fit_is_refused_before_any_molecule_is_made(folder, monkeypatch, agent, needed, most):
    monkeypatch.setattr(memory, "available_memory", lambda: 0.9e9)
    with pytest.raises(
        ValueError,
        match=rf"99,999 rows, which with 0 results need about {needed} GB, and 0.9 GB .* at most {most} rows",
    ):
        suggest(SuggestSettings(pool=folder / "pool.csv.gz", out=folder / "out.csv", maximize="y", agent=agent))
    assert [path.name for path in folder.iterdir()] == ["pool.csv.gz"]


def test_what_fits_is_what_is_left(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 4.5e9)
    assert memory.Budget(0).most_rows == 800_000
    assert memory.Budget(0, graphs=True).most_rows == 100_000
    assert memory.Budget(5_000).most_rows == 500_000
    assert memory.Budget(0, columns=1000).most_rows == 47_058
    monkeypatch.setattr(memory, "available_memory", lambda: 0.1e9)
    assert memory.Budget(0).most_rows == 0


def test_what_is_free_is_what_the_system_and_the_container_say(tmp_path, monkeypatch):
    limit, used = tmp_path / "limit", tmp_path / "used"
    monkeypatch.setattr(memory, "LIMIT", limit)
    monkeypatch.setattr(memory, "USED", used)
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: SimpleNamespace(available=4_096_000))
    assert memory.available_memory() == 4_096_000
    limit.write_text("max\n")
    used.write_text("1000000\n")
    assert memory.available_memory() == 4_096_000
    limit.write_text("3000000\n")
    assert memory.available_memory() == 2_000_000
