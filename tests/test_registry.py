import subprocess
import sys

import pytest

import registry


def test_lists_the_agents_in_alphabetical_order():
    assert registry.list_agents() == tuple(sorted(registry.list_agents()))
    assert {"gnn-ts", "random"} <= set(registry.list_agents())


def test_settings_reach_the_agent():
    assert registry.make_agent("gnn-ts", width=8, preset="paper").settings.width == 8


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("gnn_ts", {}, "Unknown agent `gnn_ts`. Did you mean `gnn-ts`?"),
        ("zzz", {}, "Unknown agent `zzz`. Agents: epsilon-greedy, "),
        ("gnn-ts", {"widht": 8}, "Did you mean `width`"),
        ("random", {"width": 8}, "Unknown setting `width`. Settings: none"),
        ("random", {"preset": "paper"}, "Unknown preset `paper`. Presets: none"),
    ],
)
def test_unknown_names_come_with_advice(name, settings, message):
    with pytest.raises(ValueError, match=message):
        registry.make_agent(name, **settings)


def test_an_agent_of_ones_own_is_made_by_name(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    registry.register_agent("mine", lambda **settings: ("mine", settings), needs="molecules")
    assert registry.make_agent("mine", a=1) == ("mine", {"a": 1})
    assert registry.agent_needs("mine") == "molecules"
    assert "mine" in registry.list_agents()


def test_refuses_a_name_that_is_taken_and_a_factory_that_is_none():
    with pytest.raises(ValueError, match="Got `random`, which is taken"):
        registry.register_agent("random", lambda: None)
    with pytest.raises(TypeError, match="`factory` to be callable"):
        registry.register_agent("other", "agents")


def test_makes_the_environment():
    env = registry.make_environment(num_graphs=3, num_nodes=2)
    assert env.action_space.n == 3


def test_the_import_needs_no_torch():
    code = "import registry, sys; registry.list_agents(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
