"""Searches of small tables of networks, and predictions of the whole of them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

import registry
from benchmarks.pools.__main__ import main
from benchmarks.pools.architectures.command import ArchitecturesCommand, tabulate
from benchmarks.pools.architectures.plays import COLUMNS, START, measure, predict, search
from benchmarks.pools.architectures.tree_parzen import TreeParzen
from graph_bandit_env.files import from_architectures

LINKS = ["0000", "0011", "0123"]
OPERATIONS = ["|".join(names) for names in itertools.product(("gcn", "fc", "gat"), repeat=4)]
NETWORKS = list(itertools.product(LINKS, OPERATIONS))
VALUES = np.array([operations.count("gcn") + int(link[-1]) / 10 for link, operations in NETWORKS])
POOL = from_architectures(*zip(*NETWORKS, strict=True), VALUES)


@pytest.fixture
def folder(tmp_path):
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
    chosen = TreeParzen(POOL.ids, seed=0)
    everything = np.arange(len(POOL))
    first = chosen(everything[:40], VALUES[:40], everything)
    later = [chosen(everything[:0], VALUES[:0], everything) for _ in range(20)]
    assert VALUES[[first, *later]].mean() > VALUES.mean() + 0.5


def test_a_network_that_is_left_is_taken_where_suggestions_are_not():
    assert TreeParzen(POOL.ids, seed=0)(np.array([5]), np.array([1.0]), np.array([7])) == 7


@pytest.mark.filterwarnings("ignore:.*does not read directions:agents.contract.BlindAgentWarning")
def test_predictions_are_compared_with_the_whole_table():
    (after,) = predict(POOL, "lin-ucb", 0, [20])
    agent = registry.make_agent("lin-ucb")
    agent.reset(None, seed=0, graph_set=POOL)
    known = np.random.default_rng(0).permutation(len(POOL))[:20]
    agent.update(None, known, VALUES[known])
    assert after == spearmanr(agent.predict_means(), VALUES).statistic


def test_what_is_found_and_how_far_it_falls_short_are_those_of_the_search(folder):
    rows = measure("citeseer", "random", "found", 1, "10 20", folder)
    order = search(POOL, "random", 1, 20)
    assert [row[5] for row in rows] == [10, 20]
    assert [row[6] for row in rows] == [VALUES[order[:10]].max(), VALUES[order].max()]
    assert [row[6] + row[7] for row in rows] == pytest.approx([VALUES.max()] * 2)


def test_the_command_prints_a_table_for_each_score_and_keeps_what_is_finished(folder, capsys):
    arguments = ["architectures", "--data", str(folder), "--players", "random", "wl-ei", "--seeds", "2"]
    arguments += ["--after", "12", "--known", "15", "--out", str(folder / "out.csv")]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    for title in ("best found", "simple regret", "rank correlation of predictions"):
        assert f"citeseer: {title}" in printed.out
    assert printed.err.count("rows\n") == 6
    assert main(arguments) == 0
    again = capsys.readouterr()
    assert (again.out, again.err) == (printed.out, "")


def test_a_table_has_means_over_seeds():
    rows = [("citeseer", "tpe", "found", str(seed), "20", 20, 0.5 + seed, 0.1, np.nan) for seed in range(2)]
    table = tabulate(pd.DataFrame(rows, columns=COLUMNS), "citeseer", "found", ("random", "tpe"))
    assert table.rows[0] == ("player", "after 20 [95 %]", "seeds")
    assert [row[0] for row in table.rows[1:]] == ["tpe"]
    assert table.rows[1][1].startswith("1 [")


def test_an_unknown_pool_is_named(folder, capsys):
    assert main(["architectures", "--data", str(folder), "--pools", "citeser"]) == 1
    assert "Did you mean `citeseer`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"players": ("wl-ie",)}, "Did you mean `wl-ei`"),
        ({"after": (5, 20)}, "Expected `after` of at least 10"),
        ({"known": (1,)}, "Expected `known` of at least 2"),
        ({"seeds": 0}, "Expected at least 1 seed"),
    ],
)
def test_what_does_not_fit_is_refused(settings, message, folder):
    with pytest.raises(ValueError, match=message):
        ArchitecturesCommand(data=folder, **settings)
