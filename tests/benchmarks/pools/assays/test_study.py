"""Plays with two assays: pairs by name, equal money for all, rows that are kept, the table, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from support.molecules import some_molecules

import registry
from benchmarks.pools.assays import study as plays
from benchmarks.pools.assays.study import AssaysStudy

MOLECULES = some_molecules(60)
VALUES = np.asarray(MOLECULES.targets)
PAIR = plays.Pair(MOLECULES, VALUES, VALUES + 0.1 * np.sin(np.arange(60)))


@pytest.fixture(scope="module")
def agent():
    made = registry.make_agent("molecule-ucb", short_list=20)
    made.reset(None, seed=0, graph_set=MOLECULES)
    return made


@pytest.fixture(autouse=True)
def short(monkeypatch):
    for name, value in {"ROUNDS": 2, "START": 10, "GIFT": 15, "MONEY": 500.0}.items():
        monkeypatch.setattr(plays, name, value)


@pytest.mark.parametrize("player", plays.PLAYERS)
def test_all_begin_alike_and_spend_the_same_money(agent, player):
    dear, cheap = plays.spend(PAIR, agent, player, 10.0, seed=3)
    assert dear[:10] == np.random.default_rng(3).permutation(60)[:10].tolist()
    assert len(set(dear)) == len(dear)
    assert len(set(cheap)) == len(cheap)
    bought = 0 if player in ("dear", "gift", "column") else len(cheap)
    assert 1000 - 2 * 100 < 100 * (len(dear) - 10) + 10 * bought <= 1000
    assert len(cheap) == {"dear": 0, "gift": 25, "column": 25}.get(player, bought)


def test_the_column_knows_what_was_given_alone():
    column = plays.with_column(MOLECULES, VALUES, [4, 2]).columns[:, 0]
    assert column[[4, 2]] == pytest.approx(VALUES[[4, 2]])
    assert np.isnan(column).sum() == 58


def test_a_simulated_assay_has_the_correlation_that_was_asked_for(tmp_path):
    (tmp_path / "affinity").mkdir()
    table = pd.DataFrame({"SMILES": MOLECULES.smiles, "affinity": VALUES})
    table.to_csv(tmp_path / "affinity/D2R.csv.gz", index=False)
    for correlation in (0.0, 1.0):
        pair = plays.read_pair(f"D2R:{correlation:g}", tmp_path)
        assert np.corrcoef(plays.normal_scores(pair.dear), pair.cheap)[0, 1] == pytest.approx(correlation, abs=0.3)
    both = plays.read_pair("D2R:D2R", tmp_path)
    assert both.dear.tolist() == both.cheap.tolist()


def test_a_table_has_differences_of_equal_starts(tmp_path, monkeypatch):
    monkeypatch.setattr(plays, "read_pair", lambda name, folder: PAIR)
    plays._describe.cache_clear()
    asked = AssaysStudy(data=tmp_path, pairs=("D2R:0.5",), players=("dear", "funnel"), seeds=2)
    rows = pd.DataFrame([row for task in asked.tasks() for row in asked.play_alone(*task)])
    rows.columns = [*asked.key, *asked.scores]
    ((_, (header, dear, funnel)),) = asked.tables(rows)
    found = rows.set_index(["player", "seed"])["found of the top 5 %"]
    less = np.mean([found["funnel", seed] - found["dear", seed] for seed in ("0", "1")])
    assert dear[header.index("less dear")] == ""
    assert funnel[header.index("less dear")].startswith(f"{less:+.1f} [")
    assert (dear[3], funnel[3], funnel[-1]) == ("dear", "funnel", "2")


@pytest.mark.parametrize("name", ["D2R:1.5", "D2R", "D2R:affinity", "affinity:0.5"])
def test_pairs_that_cannot_be_read_are_refused(name):
    with pytest.raises(ValueError, match="Expected"):
        plays.find_pair(name)


@pytest.mark.parametrize(
    "wrong", [{"prices": (40.0,)}, {"pairs": ("D2R",)}, {"players": ("greedy",)}, {"players": ("dear", "dear")}]
)
def test_settings_that_make_no_sense_are_refused(tmp_path, wrong):
    with pytest.raises(ValueError, match=r"Expected|Unknown player `greedy`"):
        AssaysStudy(**{"data": tmp_path, "pairs": ("D2R:0.5",), **wrong})
