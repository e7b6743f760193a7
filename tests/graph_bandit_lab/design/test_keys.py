import pytest

from graph_bandit_lab.design.plan import _key_without_environment, _make_agent
from graph_bandit_lab.design.settings import AgentSpec


def key_of(text):
    spec = AgentSpec.parse(text)
    return _key_without_environment(spec, _make_agent(spec), "")


@pytest.mark.parametrize(("agent", "settings_hash"), [("gnn-ts", "36cc30f59928e728"), ("gntk-ucb", "cdf0adc6c2ec777f")])
def test_agents_of_earlier_results_keep_their_key(agent, settings_hash):
    """The hashes were computed before agents had `memory`."""
    key = key_of(agent)
    assert key.settings_hash == settings_hash
    other = key_of(f"{agent}:memory=500")
    assert other.settings_hash != settings_hash
