import numpy as np
import pandas as pd

import registry
from benchmarks.sweeps.readings import Command, bends


def results(**plays):
    """Rows of each label: actions of one repetition and their regret, 1 for each graph but 0."""
    rows = [
        {"label": label, "actions": np.array(actions), "regret": np.array(actions, float) > 0}
        for label, by_seed in plays.items()
        for actions in by_seed
    ]
    return pd.DataFrame(rows).assign(regret=lambda table: table["regret"].map(lambda regret: regret.astype(float)))


def test_a_reading_that_settles_is_told_from_one_that_bends():
    table = bends(
        results(bends=[[1, 2, 1, 0, 0, 1]], wrong=[[1, 1, 1, 1, 1, 1], [1, 2, 3, 0, 0, 0]]), ["wrong", "bends"]
    )
    assert [row[0] for row in table[1:]] == ["wrong", "bends"]
    assert table[1][1:] == ("4.5 (2.1)", "0.50", "50%", "1 of 2", "2")
    assert table[2][1:] == ("4.0 (0.0)", "0.33", "0%", "0 of 1", "1")


def test_what_is_stored_is_not_played_again(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(
        'title = "two"\nrepetitions = 1\nagents = ["random", "ucb1"]\n'
        "[[grid]]\n[grid.environment]\nnum_graphs = 3\nnum_nodes = 4\nhorizon = 4\n"
    )
    Command(sweep=sweep, folder=tmp_path / "out").run()
    first = capsys.readouterr().out
    Command(sweep=sweep, folder=tmp_path / "out", play=False).run()
    assert capsys.readouterr().out.splitlines()[-2:] == first.splitlines()[-2:]
