"""Searches of small tables of networks, and predictions of the whole of them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

import registry
from benchmarks.pools.__main__ import main
from benchmarks.pools.screening import Plan, play
from benchmarks.pools.studies import architectures
from benchmarks.pools.studies.architectures import START, ArchitecturesStudy, TreeParzen, make_searcher
from graph_bandit_env.files import from_architectures

LINKS = ["0000", "0011", "0123"]
OPERATIONS = ["|".join(names) for names in itertools.product(("gcn", "fc", "gat"), repeat=4)]
NETWORKS = list(itertools.product(LINKS, OPERATIONS))
VALUES = np.array([operations.count("gcn") + int(link[-1]) / 10 for link, operations in NETWORKS])
POOL = from_architectures(*zip(*NETWORKS, strict=True), VALUES)


def search(pool, player, seed, count):
    return play(pool, Plan(START, 1, count - START), make_searcher(player), seed)


def estimator():
    player = TreeParzen()
    player.begin(POOL, seed=0)
    return player


@pytest.fixture
def table(tmp_path):
    links, operations = zip(*NETWORKS, strict=True)
    table = pd.DataFrame({"link": links, "ops": operations, "valid_perf": VALUES})
    table.to_csv(tmp_path / "nasbenchgraph_citeseer.csv.gz", index=False)
    return tmp_path


@pytest.mark.filterwarnings("ignore:.*does not read directions:agents.contract.BlindAgentWarning")
@pytest.mark.parametrize("player", ["random", "tpe", "wl-ei", "gaussian-ts"])
def test_a_search_measures_each_network_once_and_starts_like_all_others(player):
    order = search(POOL, player, 3, 15)
    assert len(set(order.tolist())) == 15
    assert order[:START].tolist() == search(POOL, "random", 3, START).tolist()
    assert order.tolist() == search(POOL, player, 3, 15).tolist()
    assert order.tolist() != search(POOL, player, 4, 15).tolist()


def test_what_learns_finds_more_than_what_does_not():
    chosen = {name: [VALUES[search(POOL, name, seed, 30)][START:] for seed in (0, 1)] for name in ("random", "tpe")}
    assert np.mean(chosen["tpe"]) > np.mean(chosen["random"]) + 0.3


def test_the_estimator_suggests_the_best_kind_of_each_place():
    known, chosen = np.arange(40), []
    for seed in range(10):
        player = TreeParzen()
        player.begin(POOL, seed)
        chosen += player.choose(known, VALUES[known], 1)
    assert VALUES[chosen].mean() > VALUES[40:].mean() + 0.5


def test_a_network_that_is_left_is_taken_where_suggestions_are_not():
    known = np.delete(np.arange(len(POOL)), 7)
    assert estimator().choose(known, VALUES[known], 1) == [7]


@pytest.mark.filterwarnings("ignore:.*does not read directions:agents.contract.BlindAgentWarning")
def test_predictions_are_compared_with_the_whole_table(table, monkeypatch):
    monkeypatch.setattr(architectures, "KNOWN", (20,))
    ((_, _, _, correlation),) = ArchitecturesStudy(data=table).play("citeseer", "lin-ucb", "predicted", 0)
    agent = registry.make_agent("lin-ucb")
    agent.reset(None, seed=0, graph_set=POOL)
    known = np.random.default_rng(0).permutation(len(POOL))[:20]
    agent.update(None, known, VALUES[known])
    assert correlation == pytest.approx(spearmanr(agent.predict_means(), VALUES).statistic)


def test_what_is_found_and_how_far_it_falls_short_are_those_of_the_search(table, monkeypatch):
    monkeypatch.setattr(architectures, "AFTER", (12, 20))
    rows = [*ArchitecturesStudy(data=table).play("citeseer", "random", "found", 1)]
    order = search(POOL, "random", 1, 20)
    assert [row[0] for row in rows] == [12, 20]
    assert [row[1] for row in rows] == pytest.approx([VALUES[order[:12]].max(), VALUES[order].max()])
    assert [row[1] + row[2] for row in rows] == pytest.approx([VALUES.max()] * 2)


@pytest.mark.filterwarnings("ignore:.*does not read directions:agents.contract.BlindAgentWarning")
def test_the_command_prints_a_table_for_each_score(table, capsys, monkeypatch):
    monkeypatch.setattr(architectures, "AFTER", (12,))
    monkeypatch.setattr(architectures, "KNOWN", (15,))
    arguments = ["architectures", "--data", str(table), "--players", "random", "tpe", "wl-ei", "--seeds", "2"]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    for title in ("best found", "simple regret", "rank correlation of predictions"):
        assert f"citeseer: {title}" in printed.out
    assert printed.err.count("rows\n") == 8  # three searches and one that predicts, twice


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"players": ("wl-ie",)}, "Did you mean `wl-ei`"),
        ({"seeds": 0}, "Expected `seeds` of at least 1"),
    ],
)
def test_what_does_not_fit_is_refused(settings, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        ArchitecturesStudy(data=tmp_path, **settings)
