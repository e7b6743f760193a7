import re
from functools import partial

from benchmarks.sweeps import estimates
from graph_bandit_lab.execution import InProcess, calibrate

TOML = """
repetitions = 2
agents = ["gnn-ts:width=8,steps=2", "random"]
[[grid]]
[grid.environment]
num_graphs = [3, 5]
num_nodes = 4
horizon = 8
"""


def test_estimates_are_held_against_what_is_played(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(estimates, "Processes", lambda workers: InProcess())
    monkeypatch.setattr(estimates, "calibrate", partial(calibrate, seconds=1.0))
    path = tmp_path / "little.toml"
    path.write_text(TOML)
    monkeypatch.setattr("sys.argv", ["estimates", str(path), "--repetitions", "3", "--rounds", "5"])
    estimates.main()
    printed = capsys.readouterr().out
    assert re.search(r"Calibration: \d+ rounds on \d instances", printed)
    assert len(re.findall(r"^(?:gnn-ts|random)\S* +[35] +4 ", printed, re.MULTILINE)) == 3
    ratios = re.search(r"Estimated over played: (\S+) in CPU time, (\S+) in wall time", printed)
    assert all(float(ratio) > 0 for ratio in ratios.groups())
