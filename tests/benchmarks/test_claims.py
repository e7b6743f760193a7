import numpy as np
import pandas as pd
import pytest

from benchmarks.sweeps.claims import halves, kinds, ratios

pytestmark = pytest.mark.slow
AGENT = {"agent": "x", "label": "x"}


def test_claims_compare_what_agrees_in_all_else():
    environments = [{"num_graphs": k, "reward_model": reward} for reward in "ab" for k in (10, 50)]
    totals = {("a", 10): 1.0, ("a", 50): 4.0, ("b", 10): 100.0, ("b", 50): 900.0}
    rows = [
        {**AGENT, "environment": environment, "agent_settings": {}, "seed": 1, "total_regret": total}
        for environment, total in zip(environments, totals.values(), strict=True)
    ]
    _, row = ratios(pd.DataFrame(rows), "num_graphs")
    assert row[:2] == ("x", "10 -> 50")
    assert row[2].startswith("6.00 [4.00, 9.00]")  # of 4 and 9
    assert row[3] == "2"


def test_claims_about_an_agents_setting_compare_equal_instances():
    plays = [(width, seed) for width in (8, 16) for seed in (1, 2, 3)]
    rows = [
        {
            **AGENT,
            "environment": {},
            "agent_settings": {"width": width},
            "seed": seed,
            "total_regret": width * 10.0**seed,
        }
        for width, seed in plays
    ]
    _, row = ratios(pd.DataFrame(rows), "width")
    assert row == ("x", "8 -> 16", "2.00 [2.00, 2.00]", "3")


def test_halves_are_compared_with_each_other_and_with_random_play():
    plays = {
        "random": [[10, 10, 10, 10], [30, 30, 30, 30]],
        "bends": [[3, 3, 0, 0], [5, 5, 0, 0]],
        "straight": [[2, 2, 2, 2], [6, 6, 6, 6]],
        "started": [[1, 1, 1, 1]],
    }
    table = pd.DataFrame(
        {"label": label, "seed": seed, "regret": np.asarray(regret, float), "actions": np.array([0, 1, 2, 2])}
        for label, by_seed in plays.items()
        for seed, regret in enumerate(by_seed)
    )
    header, *rows = halves(table)
    assert [row[0] for row in rows] == ["started", "bends", "straight", "random"]
    assert {row[0]: (row[2:]) for row in rows} == {
        "started": ("0.100", "0.100", "1.00", "100%", "1"),  # on the seed that it has played
        "bends": ("0.100", "0.000", "0.00", "0%", "2"),
        "straight": ("0.200", "0.200", "1.00", "100%", "2"),
        "random": ("1.000", "1.000", "1.00", "100%", "2"),
    }
    assert all(len(row) == len(header) for row in rows)
    assert [row[2:4] for row in halves(table[table["label"] == "bends"])[1:]] == [("", "")]


def test_aims_of_kinds_of_graphs_are_judged_by_kind():
    means = {
        "bipartite": {"gnn-ts": 0.6, "gnn-ucb": 0.5, "gp-ucb": 0.2},
        "sizes": {"gnn-ts": 0.6, "gnn-ucb": 0.9, "gp-ucb": 0.2},
        "weights": {"gnn-ts": 0.9, "gnn-ucb": 0.9, "gp-ucb": 0.2},
        "noise": {"gnn-ts": 1.3, "gnn-ucb": 1.0, "gp-ucb": 0.9},
    }
    table = pd.DataFrame(means).T.rename_axis("environment_key").stack().rename_axis(["environment_key", "label"])
    rows = kinds(pd.DataFrame({"mean": table, "error": 0.1, "worse": table > 1.2}))
    missed = ["gnn-ts on bipartite", "gnn-ucb on sizes", "gp-ucb, mean over kinds"]
    assert [row.name for row in rows if not row.met] == ["worse, by Holm", "above 1 by 2 standard errors", *missed]
    assert len(rows) == 2 + 2 * 2 + 3 + 1
