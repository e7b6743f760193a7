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


def test_a_pool_that_does_not_fit_is_refused_before_any_molecule_is_made(folder, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 0.9e9)
    with pytest.raises(ValueError, match="80,000 rows"):
        suggest(SuggestSettings(pool=folder / "pool.csv.gz", out=folder / "out.csv", maximize="y"))
    assert [path.name for path in folder.iterdir()] == ["pool.csv.gz"]


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
