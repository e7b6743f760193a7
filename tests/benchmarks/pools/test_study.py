"""The driver of all studies: what is finished is kept, what fails stops nothing else, and intervals."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from benchmarks.pools import __main__ as command_line
from benchmarks.pools.study import Study, Table, interval, interval_over_pools, read_molecules
from graph_bandit_lab.analysis import bootstrap_interval


@dataclass(frozen=True, kw_only=True)
class Doubling(Study):
    """Double numbers; zero has no rows, and negative numbers fail."""

    numbers: tuple[int, ...] = (1, 2)
    rounds: int = 1

    key = ("number",)
    scores = ("double",)
    played: ClassVar[list[int]] = []

    def tasks(self):
        return [(number,) for number in self.numbers]

    def play(self, number):
        self.played.append(number)
        if number < 0:
            raise ZeroDivisionError("no")
        return [(2 * number + 1e-12,)] * bool(number)

    def tables(self, rows):
        return [
            Table("doubles", [("number", "double"), *((row.number, f"{row.double:g}") for row in rows.itertuples())])
        ]


@pytest.fixture
def doubling(tmp_path):
    Doubling.played.clear()
    return lambda **settings: Doubling(data=Path(), out=tmp_path / "new" / "out.csv", **settings)


def test_what_is_finished_is_not_done_again(doubling, capsys):
    assert doubling().run()
    with doubling().out.open("a") as file:
        file.write("7,1")  # as if it had been killed there
    assert doubling(numbers=(2, 3, 1), markdown=True).run()
    assert Doubling.played == [1, 2, 3]
    assert doubling().out.read_text() == "number,double\n1,2.0\n2,4.0\n3,6.0\n"
    assert "| 3 | 6 |" in capsys.readouterr().out


def test_a_task_that_fails_stops_no_other_and_is_tried_again(doubling, capsys):
    assert not doubling(numbers=(-1, 4)).run()
    shown = capsys.readouterr()
    assert "-1 failed: ZeroDivisionError: no" in shown.err
    assert "4            8" in shown.out
    assert not doubling(numbers=(-1, 4)).run()
    assert Doubling.played == [-1, 4, -1]


def test_what_finishes_nothing_is_refused(doubling):
    with pytest.raises(ValueError, match="Expected a task that was finished"):
        doubling(numbers=(0,)).run()


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"workers": 0}, "workers"),
        ({"rounds": 0}, "rounds"),
        ({"numbers": ()}, "numbers"),
        ({"numbers": (1, 1)}, "numbers"),
    ],
)
def test_settings_that_make_no_sense_are_refused(doubling, wrong, name):
    with pytest.raises(ValueError, match=f"Expected `{name}`"):
        doubling(**wrong)


def test_every_study_names_its_tasks_and_scores():
    for study in command_line.STUDIES.values():
        assert len({*study.key, *study.scores}) == len(study.key) + len(study.scores)


def test_a_file_of_another_study_is_refused(folder, capsys):
    (folder / "out.csv").write_text("number,double\n1,2\n")
    command = ["salts", "--data", str(folder), "--pools", "zinc_QED", "--out", str(folder / "out.csv")]
    assert command_line.main(command) == 1
    assert "out.csv to have the columns pool, start, forms" in capsys.readouterr().err


def test_an_unknown_pool_is_named(folder, capsys):
    assert command_line.main(["salts", "--data", str(folder), "--pools", "zinc_QUD"]) == 1
    assert "Did you mean `zinc_QED`" in capsys.readouterr().err


def test_molecules_of_a_pool_are_molecules(tmp_path):
    cell = "|avg_pool_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_3x3~2|"
    pd.DataFrame({"cellstr": [cell], "cifar10-val": [61.5]}).to_csv(tmp_path / "nasbench201_mini.csv.gz", index=False)
    with pytest.raises(ValueError, match="Expected a pool of molecules. Got `cifar10-val`"):
        read_molecules("cifar10-val", tmp_path)


def test_every_pool_counts_once_and_intervals_draw_whole_pools():
    """So that a pool with many starts, which resemble each other, does not look like much evidence."""
    pools = np.repeat(["p", "q", "r"], [9, 2, 1])
    values = pd.Series(np.repeat([10.0, 40.0, 70.0], [9, 2, 1]), index=pd.Index(pools, name="pool"))
    low, high = bootstrap_interval(np.array([10.0, 40.0, 70.0]))
    assert interval_over_pools(values) == f"40.0 [{low:.1f}, {high:.1f}]"
    assert interval_over_pools(values.loc[["p"]] + np.arange(9)) == interval(10.0 + np.arange(9))
    assert interval_over_pools(values[:0]) == ""
