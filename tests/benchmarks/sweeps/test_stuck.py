import pytest

from benchmarks.sweeps.stuck import Command


def test_scale_and_noise_are_given():
    command = Command(rewards=("linear",), scales=(2.0,), horizon=16, seeds=1, given=True)
    header, row = command.compare()
    assert len(header) == len(row)
    assert row[:2] == ("linear", "2")
    assert "1 to 1; 0.01 to 0.01" in row


def test_an_agent_without_a_gaussian_process_is_refused():
    with pytest.raises(ValueError, match="Expected an agent with a Gaussian process. Got `random`"):
        Command(agent="random", horizon=16, seeds=1).compare()
