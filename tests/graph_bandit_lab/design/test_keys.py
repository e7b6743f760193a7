import pytest

from graph_bandit_lab.design.plan import _key_without_environment
from graph_bandit_lab.design.settings import AgentSpec


@pytest.mark.parametrize(("agent", "settings_hash"), [("gnn-ts", "36cc30f59928e728"), ("gntk-ucb", "cdf0adc6c2ec777f")])
def test_agents_of_earlier_results_keep_their_key(agent, settings_hash):
    """The hashes were computed before agents had `memory`."""
    key = _key_without_environment(AgentSpec.parse(agent), "")
    assert key.settings_hash == settings_hash
    other = _key_without_environment(AgentSpec.parse(f"{agent}:memory=500"), "")
    assert other.settings_hash != settings_hash
