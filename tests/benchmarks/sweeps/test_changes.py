import pandas as pd
import pytest

from benchmarks.sweeps.changes import Command, compare_changes
from graph_bandit_lab import read_sweep, run_sweep

PLAYED = {  # R_T by label, task and seed
    "x": {"easy": (2.0, 6.0), "hard": (10.0, 10.0)},
    "x:width=8": {"easy": (1.0, 3.0), "hard": (40.0, 40.0)},
    "y": {"easy": (3.0, 3.0), "hard": (20.0, 20.0)},
}


def rows_of(played):
    return pd.DataFrame(
        {"task": task, "seed": seed, "label": label, "agent": label.split(":")[0], "total_regret": total}
        for label, tasks in played.items()
        for task, totals in tasks.items()
        for seed, total in enumerate(totals)
    )


def test_a_change_is_compared_with_the_defaults_task_by_task():
    header, row = compare_changes(rows_of(PLAYED))
    assert len(header) == len(row)
    assert row[0] == "x:width=8"
    assert row[1].startswith("1.41 [0.50, 4.00]")  # the root of 1/2 times 4
    assert row[2].startswith("+0.00 [-1.00, +1.00]")  # before `y` on the easy task, behind it on the hard one
    assert row[3:] == ("1 of 2", "hard (4.00)", "4")


def test_only_instances_that_both_have_played_are_compared():
    _, row = compare_changes(rows_of(PLAYED | {"x:width=8": {"easy": (1.0,), "hard": (5.0,)}}))
    assert row[1].startswith("0.50 [0.50, 0.50]")
    assert row[-1] == "2"


def test_a_task_without_any_regret_has_no_ratio():
    _, row = compare_changes(rows_of(PLAYED | {"x:width=8": {"easy": (0.0, 0.0), "hard": (5.0, 5.0)}}))
    assert row[3] == "1 of 1"


def test_places_are_of_the_instances_that_all_have_played():
    """On the first instance the change is behind `y`; the second, which `y` lacks, would put it before."""
    played = {"x": {"easy": (2.0, 2.0)}, "x:width=8": {"easy": (4.0, 1.0)}, "y": {"easy": (3.0,)}}
    _, row = compare_changes(rows_of(played))
    assert row[2].startswith("+1.00")
    _, row = compare_changes(rows_of(played | {"y": {"hard": (3.0,)}}))
    assert row[2] == "–"


def test_changes_without_defaults_to_compare_with_are_refused():
    with pytest.raises(ValueError, match="Expected an agent with its defaults and with other settings"):
        compare_changes(rows_of({"x:width=8": PLAYED["x:width=8"], "y": PLAYED["y"]}))


SWEEP = """
agents = ["lin-ucb", "lin-ucb:exploration_scale=0.5", "random"]
repetitions = 2
[[grid]]
task = "few"
[grid.environment]
num_graphs = 4
horizon = 3
[[grid]]
task = "many"
[grid.environment]
num_graphs = 6
horizon = 3
"""


def test_a_sweep_with_tasks_is_compared_by_their_names(tmp_path, capsys):
    (tmp_path / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    run_sweep(read_sweep(tmp_path / "sweep.toml").plan(), tmp_path / "out", progress=False, report=False)
    assert Command(folder=tmp_path / "out").run() == 0
    _, row = capsys.readouterr().out.splitlines()
    assert row.startswith("lin-ucb:exploration_scale=0.5")
    assert "few (" in row or "many (" in row
