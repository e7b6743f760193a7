import pytest

from graph_bandit_lab.design import EnvironmentSettings, read_sweep
from graph_bandit_lab.design.keys import has_one_instance
from graph_bandit_lab.design.own_graphs import read_own_graphs, to_arguments
from graph_bandit_lab.design.plan import find_key, make_checked
from graph_bandit_lab.design.settings import AgentSpec


def key_of(text):
    spec = AgentSpec.parse(text)
    return find_key(spec, make_checked(spec), "")


@pytest.mark.parametrize(
    ("agent", "settings_hash", "change"),
    [
        ("gnn-ts", "36cc30f59928e728", "memory=500"),
        ("nn-ucb", "7363ed02936144af", "memory=500"),
        ("molecule-ts", "adcabcd54ad85d40", "forget=100"),
    ],
)
def test_agents_of_earlier_results_keep_their_key(agent, settings_hash, change):
    """The hashes were computed before `gnn-` and `nn-` agents had `memory`, and when others got `forget`."""
    assert key_of(agent).settings_hash == settings_hash
    assert key_of(f"{agent}:{change}").settings_hash != settings_hash


@pytest.mark.parametrize("agent", ["gntk-ucb", "lin-ucb", "wl-ts", "molecule-ei"])
def test_agents_that_forget_have_keys_of_their_own(agent):
    keys = [key_of(f"{agent}{settings}") for settings in ("", ":forget=null", ":forget=100", ":forget=0.99")]
    assert keys[0].settings_hash == keys[1].settings_hash
    assert len({key.settings_hash for key in keys}) == 3
    assert [key.agent_settings["forget"] for key in keys[2:]] == [100, 0.99]


def test_what_is_a_number_or_none_tells_kinds_of_agents_apart_and_its_value_does_not():
    """Their rounds take other times."""
    texts = ("gntk-ucb", "gntk-ucb:forget=0.9", "gntk-ucb:forget=0.99", "gntk-ucb:forget=0.9,exploration_scale=0.3")
    plain, *others = (key_of(text).agent_kind for text in texts)
    assert len(set(others)) == 1
    assert plain not in others


def test_forget_is_read_from_a_sweep_file(tmp_path):
    path = tmp_path / "drift.toml"
    path.write_text(
        'seeds = [7]\n[[grid]]\nagents = ["gntk-ucb:forget=100", "lin-ucb"]\n[grid.settings]\nexploration_scale = 1.5\n'
        '[[grid]]\nagents = ["lin-ts", "wl-ucb"]\n[grid.settings]\nforget = [50, 0.99]\n'
    )
    specs = [spec for grid in read_sweep(path).grids for spec in grid.agents]
    assert [spec.settings["forget"] for spec in specs if "forget" in spec.settings] == [100, 50, 0.99, 50, 0.99]
    assert [type(make_checked(spec).settings.forget) for spec in specs] == [int, type(None), int, float, int, float]


@pytest.mark.parametrize(("minimize", "sign"), [(False, 1), (True, -1)])
def test_small_values_are_wanted_only_where_the_stored_settings_say_so(tmp_path, minimize, sign):
    path = tmp_path / "hits.csv"
    path.write_text("smiles,affinity\nCCO,1.5\nCCN,2.5\n")
    settings = EnvironmentSettings(graphs=str(path), target="affinity", minimize=minimize, horizon=2)
    stored = settings.to_dict()
    assert ("minimize" in stored) == minimize  # at its default it is left out, as in earlier results
    assert to_arguments(stored, read_own_graphs(settings.pool))["reward_model"].tolist() == [sign * 1.5, sign * 2.5]


@pytest.mark.parametrize(
    ("reward_model", "resample", "expected"),
    [("transitivity", False, True), ("transitivity", "episode", False), ("linear", False, False)],
)
def test_own_graphs_with_a_computed_reward_are_one_instance(reward_model, resample, expected):
    assert has_one_instance({"graphs": "0f", "reward_model": reward_model, "resample_graphs": resample}) is expected
    assert not has_one_instance({"reward_model": reward_model})
