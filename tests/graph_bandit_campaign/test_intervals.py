"""The 90 % interval of one more result: of every suggestion, in its table, in the terminal and on its page."""

import csv

import numpy as np
import pytest
from support.molecules import some_molecules

import registry
from graph_bandit_campaign import Campaign
from graph_bandit_cli.main import main
from graph_bandit_env import GraphPool

MOLECULES = some_molecules()
IDS = MOLECULES.ids
AGENT = "molecule-ucb:warp=none"


def test_the_interval_of_a_molecule_is_that_of_a_normal_result():
    campaign = Campaign(MOLECULES, AGENT)
    campaign.tell_many(dict(zip(IDS[:8], MOLECULES.targets.tolist(), strict=False)))
    rng = np.random.default_rng(0)
    for suggestion in campaign.ask(3):
        results = rng.normal(suggestion.mean, suggestion.std, 400_000) + rng.normal(0, suggestion.noise_std, 400_000)
        inside = (suggestion.low <= results) & (results <= suggestion.high)
        assert inside.mean() == pytest.approx(0.9, abs=0.005)
        assert (results < suggestion.low).mean() == pytest.approx(0.05, abs=0.004)


@pytest.mark.parametrize("maximize", [True, False])
def test_a_skewed_interval_is_the_agents_own_and_turned_over_where_small_values_are_wanted(maximize):
    rng, sign = np.random.default_rng(0), 1.0 if maximize else -1.0
    pool = GraphPool([rng.normal(size=(4, 3)) for _ in range(12)], [[(0, 1), (1, 2)]] * 12, directed=False)
    rewards = np.exp(rng.normal(size=8) * 2)  # a few are far above the others
    agent = registry.make_agent("gntk-ucb", warp="normal_scores")
    agent.reset(None, graph_set=pool)
    agent.update(None, np.arange(8), rewards)
    campaign = Campaign(pool, "gntk-ucb:warp=normal_scores", maximize=maximize)
    campaign.tell_many({str(k): sign * float(reward) for k, reward in enumerate(rewards)})
    lower, upper = agent.predict().interval(0.9)
    for name, suggestion in campaign.predict().items():
        near, far = (suggestion.low, suggestion.high) if maximize else (-suggestion.high, -suggestion.low)
        assert (near, far) == pytest.approx((lower[int(name)], upper[int(name)]), rel=1e-6)
        assert suggestion.low < suggestion.high
        assert far - sign * suggestion.mean > 1.5 * (sign * suggestion.mean - near)  # long where rewards are large


def test_table_terminal_and_page_show_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = {"pool.csv": [("id", "smiles"), *zip(IDS, MOLECULES.smiles, strict=True)]}
    rows["results.csv"] = [("id", "y"), *zip(IDS[:8], MOLECULES.targets.tolist(), strict=False)]
    for name, table in rows.items():
        with open(name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(table)
    command = ["suggest", "pool.csv", "--measured", "results.csv", "--n", "2", "--minimize", "y", "--agent", AGENT]
    assert main([*command, "--out", "out.csv", "--html", "out.html"]) == 0
    printed, page = capsys.readouterr().out, (tmp_path / "out.html").read_text(encoding="utf-8")
    campaign = Campaign(MOLECULES, state=tmp_path / "out.campaign.json")
    with open("out.csv", newline="", encoding="utf-8") as file:
        for row, suggestion in zip(csv.DictReader(file), campaign.state.rounds[0], strict=True):
            low, high = row["interval_90_low"], row["interval_90_high"]
            assert (float(low), float(high)) == pytest.approx((suggestion.low, suggestion.high), rel=1e-3)
            assert f"  {low} to {high}  " in printed
            assert f"interval {low} to {high}<" in page
