"""What an earlier pool has computed is taken over, and changes nothing."""

import pytest
from support.messy import messy_table, prepare_small

from graph_bandit_campaign import PrepareSettings
from graph_bandit_campaign.pool.prepared.making import work


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(PrepareSettings, "block", 8)


@pytest.fixture
def earlier(tmp_path):
    """Return a table, and the folder of its pool."""
    table = tmp_path / "pool.csv"
    table.write_text(messy_table(90, seed=4))
    prepare_small(table, tmp_path / "earlier", 24)
    return table, tmp_path / "earlier"


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def other_prices(text):
    return text.replace("7", "8").replace("Aldrich", "Sigma")


def fewer_and_more_rows(text):
    head, *lines = text.splitlines(keepends=True)
    return "".join([head, *lines[5:60], f"{'C' * 20}O,new,1,,2,3\n", "C1CC,bad,1,,2,3\n", *lines[60:]])


@pytest.mark.parametrize(
    ("change", "traits"), [(other_prices, ("morgan", "properties")), (fewer_and_more_rows, ("properties",))]
)
def test_the_new_pool_is_that_without_an_earlier_one(earlier, tmp_path, change, traits, monkeypatch):
    table, folder = earlier
    table.write_text(change(table.read_text()))
    prepare_small(table, tmp_path / "fresh", 24, traits=traits)
    computed, original = [], work.compute_traits

    def count(smiles, *given):
        computed.extend(smiles)
        return original(smiles, *given)

    monkeypatch.setattr(work, "compute_traits", count)
    prepare_small(table, tmp_path / "new", 24, traits=traits, reuse=folder)
    assert files_of(tmp_path / "new") == files_of(tmp_path / "fresh")
    assert bool(computed) == (change == fewer_and_more_rows)
    assert len(computed) < 60


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"stereo": True}, "stereo"), ({"most_atoms": 20}, "most_atoms"), ({"traits": ("roles",)}, "traits")],
)
def test_a_pool_with_other_settings_is_refused(earlier, tmp_path, changes, message):
    table, folder = earlier
    with pytest.raises(ValueError, match=message):
        prepare_small(table, tmp_path / "new", reuse=folder, **changes)
    assert not (tmp_path / "new").exists()
