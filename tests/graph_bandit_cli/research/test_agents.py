import registry
from graph_bandit_cli.main import main


def test_agents_lists_names_and_explains_settings(capsys):
    assert main(["agents"]) == 0
    assert "gnn-ts\n" in capsys.readouterr().out
    assert main(["agents", "gnn-ts"]) == 0
    printed = capsys.readouterr().out
    assert "gnn-ts:setting=value" in printed
    assert "exploration_scale=0.3\n    nu, multiplies sigma" in printed
    assert "covariance=exact (exact | diagonal)" in printed
    assert "preset=paper is short for covariance=diagonal, " in printed


def test_an_agent_that_tells_no_settings_is_listed_all_the_same(capsys, monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    registry.register_agent("bare", object)
    assert main(["agents", "bare"]) == 0
    assert "bare does not tell its settings" in capsys.readouterr().out
