import numpy as np
import pandas as pd
import pytest

from benchmarks.sweeps.claims import halves, ratios, settled


def test_claims_compare_what_agrees_in_all_else():
    environments = [{"num_graphs": k, "reward_model": reward} for reward in "ab" for k in (10, 50)]
    totals = {("a", 10): 1.0, ("a", 50): 4.0, ("b", 10): 100.0, ("b", 50): 900.0}
    rows = [
        {
            "environment": one,
            "agent_settings": {},
            "agent": "x",
            "label": "x",
            "seed": 1,
            "total_regret": totals[one["reward_model"], one["num_graphs"]],
        }
        for one in environments
    ]
    _, row = ratios(pd.DataFrame(rows), "num_graphs")
    assert row[:2] == ("x", "10 -> 50")
    assert row[2].startswith("6.00 [4.00, 9.00]")  # of 4 and 9
    assert row[3] == "2"
    with pytest.raises(ValueError, match="Expected `horizon` to vary"):
        ratios(pd.DataFrame(rows), "horizon")


def test_claims_about_an_agents_setting_compare_equal_instances():
    rows = [
        {
            "environment": {},
            "agent_settings": {"width": width},
            "agent": "x",
            "label": f"x:width={width}",
            "seed": seed,
            "total_regret": width * 10.0**seed,
        }
        for width in (8, 16)
        for seed in (1, 2, 3)
    ]
    _, row = ratios(pd.DataFrame(rows), "width")
    assert row == ("x", "8 -> 16", "2.00 [2.00, 2.00]", "3")


def rows_of(values, environments, seeds, regret):
    return pd.DataFrame(
        {
            "environment": {"p": environment},
            "agent_settings": {"width": value},
            "agent": "x",
            "label": "x",
            "seed": seed,
            "total_regret": regret(value, environment, seed),
        }
        for value in values
        for environment in range(environments)
        for seed in range(seeds)
    )


def test_the_interval_covers_no_effect_about_as_often_as_it_says():
    """Environments differ in the effect: an interval over seeds would cover half as often."""
    rng, hits = np.random.default_rng(0), 0
    for _ in range(40):
        effect = rng.normal(0.0, 0.3, 12)
        noise = rng.normal(0.0, 0.05, (12, 10))
        table = rows_of((8, 16), 12, 10, lambda m, e, s: np.exp((m == 16) * effect[e] + noise[e, s]))  # noqa: B023
        low, high = ratios(table, "width")[1][2].split("[")[1].rstrip("]").split(", ")
        hits += float(low) - 0.005 <= 1.0 <= float(high) + 0.005
    assert hits / 40 >= 0.8


def test_a_pair_without_regret_is_left_out_and_told():
    table = rows_of((8, 16), 1, 3, lambda m, e, s: 0.0 if (m, s) == (8, 0) else 4.0)
    assert ratios(table, "width")[1] == ("x", "8 -> 16", "1.00 [1.00, 1.00]", "2 (1 without regret)")


def test_numbers_are_sorted_as_numbers():
    table = rows_of((2.5, 1, 10), 1, 2, lambda m, e, s: 1.0)
    assert [row[1] for row in ratios(table, "width")[1:]] == ["1 -> 2.5", "2.5 -> 10"]


def test_other_settings_of_an_agent_are_no_further_instances():
    table = pd.concat(
        rows_of((8, 16), 1, 4, lambda m, e, s: float(m) ** s).assign(
            agent_settings=lambda rows, at=at: [{**one, "gradients_at": at} for one in rows["agent_settings"]]
        )
        for at in ("current", "initial")
    )
    alone = rows_of((8, 16), 1, 4, lambda m, e, s: float(m) ** s)
    assert ratios(table, "width")[1][:3] == ratios(alone, "width")[1][:3]


def test_who_settles_on_one_graph_and_on_a_wrong_one():
    plays = {
        "best": ([0, 1, 2, 2], [1.0, 1.0, 0.0, 0.0]),
        "stuck": ([0, 1, 1, 1], [1.0, 0.5, 0.5, 0.5]),
        "open": ([0, 1, 2, 1], [1.0, 0.5, 0.0, 0.5]),
    }
    rows = [{"label": label, "actions": np.array(a), "regret": np.array(r)} for label, (a, r) in plays.items()]
    _, *found = settled(pd.DataFrame(rows))
    assert found == [("best", "100%", "0%", "1"), ("stuck", "100%", "100%", "1"), ("open", "0%", "0%", "1")]


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
