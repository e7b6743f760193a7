import pytest

from benchmarks.sweeps.inside import HEADER, Command


def test_rounds_are_described(capsys):
    command = Command(agent="gnn-ts:preset=paper,width=16", num_graphs=5, num_nodes=6, horizon=3, rounds=(1, 3))
    header, first, last = command.look()
    assert header == HEADER
    assert (first[0], first[1], last[0]) == ("1", "0", "3")
    assert float(first[4]) == float(first[6]) == 0  # the network starts at 0
    assert first[-1] == "1.00"
    assert "Weight of the penalty at t = 3: 0.0016" in capsys.readouterr().out


def test_an_agent_without_a_network_is_refused():
    with pytest.raises(TypeError, match="Expected a neural agent, gnn-\\* or nn-\\*. Got ucb1"):
        Command(agent="ucb1").look()
