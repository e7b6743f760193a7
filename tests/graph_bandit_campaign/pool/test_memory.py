from types import SimpleNamespace

import pytest

from graph_bandit_campaign import SuggestSettings, suggest
from graph_bandit_campaign.pool import descriptors as memory


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pool.csv").write_text("id,smiles\n" + "".join(f"m{k},{'C' * k}O\n" for k in range(1, 20)))
    return tmp_path


def test_a_pool_that_does_not_fit_is_read_part_by_part_if_the_agent_can_do_that(folder, monkeypatch):
    def suggestions(name, **given):
        out = folder / name
        return suggest(SuggestSettings(pool=folder / "pool.csv", out=out, maximize="y", n=3, workers=None, **given))

    expected = suggestions("all.csv")
    monkeypatch.setattr(memory, "available_memory", lambda: memory.BYTES_AT_ALL)
    assert suggestions("parts.csv") == expected
    with pytest.raises(ValueError, match="fits into memory"):
        suggestions("graphs.csv", agent="gnn-ts")
    assert not (folder / "graphs.csv").exists()


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
