import pytest

from graph_bandit_campaign import SuggestSettings, suggest
from graph_bandit_campaign.command.pools import rows
from graph_bandit_campaign.pool import descriptors


def test_a_large_pool_is_read_part_by_part_if_the_agent_can_do_that(tmp_path, monkeypatch):
    (tmp_path / "pool.csv").write_text("id,smiles\n" + "".join(f"m{k},{'C' * k}O\n" for k in range(1, 20)))

    def suggestions(name, **given):
        out = tmp_path / name
        return suggest(SuggestSettings(pool=tmp_path / "pool.csv", out=out, maximize="y", n=3, workers=None, **given))

    expected = suggestions("all.csv")
    for module in (rows, descriptors):
        monkeypatch.setattr(module, "MOST_WHOLE", 18)
    assert suggestions("parts.csv") == expected
    with pytest.raises(ValueError, match="at most 18 molecules"):
        suggestions("graphs.csv", agent="gnn-ts")
    assert not (tmp_path / "graphs.csv").exists()
