"""Plays with money: prices as described, budgets kept, the same start for all, rows that are kept, and the tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.molecules import some_molecules

import registry
from benchmarks.pools import __main__ as command_line
from benchmarks.pools.studies import prices as plays

MOLECULES = some_molecules(50)


TERMS = plays.Terms(budget=9.0, rounds=2, batch=20, weight=0.5)


def spend(terms):
    agent, prices = registry.make_agent("molecule-ucb", short_list=20), plays.draw_prices(MOLECULES, "any", 3)
    agent.reset(None, seed=0, graph_set=MOLECULES)
    order = plays.spend(agent, MOLECULES, prices, terms, seed=3)
    return prices[order[plays.START :]].sum(), order


@pytest.mark.parametrize("drawn", ["any", "size"])
def test_prices_are_log_uniform_from_1_to_10(drawn):
    logs = np.log10(np.sort(plays.draw_prices(MOLECULES, drawn, seed=1)))
    assert logs == pytest.approx(np.linspace(0, 1, 50))


def test_large_molecules_are_dearer_where_size_counts():
    atoms = [graph.num_nodes for graph in MOLECULES.to_pyg()]
    by_size, by_chance = (
        np.mean([np.corrcoef(atoms, np.log(plays.draw_prices(MOLECULES, drawn, seed)))[0, 1] for seed in range(20)])
        for drawn in ("size", "any")
    )
    assert by_size > 0.7
    assert abs(by_chance) < 0.2


def test_who_looks_at_prices_buys_more_for_the_same_money():
    (spent, looking), (blind_spent, blind) = (spend(TERMS._replace(weight=weight)) for weight in (0.5, 0.0))
    assert max(spent, blind_spent) <= 18
    assert looking[: plays.START].tolist() == blind[: plays.START].tolist()
    assert len(np.unique(looking)) == len(looking)
    assert len(looking) > len(blind) > plays.START


def test_one_at_a_time_spends_the_money_too():
    spent, order = spend(TERMS._replace(batch=1, rounds=1, budget=6.0))
    assert spent <= 6
    assert len(order) > plays.START + 1


def test_the_score_counts_what_was_bought():
    values = np.arange(100.0)
    order = np.array([*range(30), 99, 97, 40])
    assert plays.score(values, order) == (3.0, 2.0, 100.0)
    assert plays.score(values, order[:-3])[2] == 0


def test_a_command_compares_those_who_look_at_prices_with_those_who_do_not(folder, capsys):
    command = ["prices", "--data", str(folder), "--pools", "zinc_QED", "--shares", "0.8", "--drawn", "any", "--seeds"]
    assert command_line.main([*command, "1", "--rounds", "1", "--budget", "20", "--markdown"]) == 0
    blind, looking = capsys.readouterr().out.splitlines()[-2:]
    assert blind.startswith("| any | 0.0 | 20.0 |")
    assert looking.startswith("| any | 0.5 | 16.0 |")


def test_differences_are_those_of_equal_pools_prices_and_seeds():
    rows = [
        (pool, "any", "a", str(seed), budget, "5", "96", weight, 10.0, 5.0, good + seed, 50.0)
        for pool in ("p", "q")
        for seed in range(2)
        for budget, weight, good in (("80.0", "0.0", 4.0), ("64.0", "0.5", 6.0 + (pool == "q")))
    ]
    asked = plays.PricesStudy(data=Path(), pools=("HLM",), by_pool=True)
    table, by_pool = asked.tables(pd.DataFrame(rows, columns=[*asked.key, *asked.scores]))
    header, blind, looking = table.rows
    place = header.index("less without prices")
    assert blind[place] == ""
    assert looking[place] == "+2.5 [+2.0, +3.0]"
    assert [row[0] for row in by_pool.rows[1:]] == ["p", "p", "q", "q"]
