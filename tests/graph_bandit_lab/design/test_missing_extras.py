import sys

import pytest

from graph_bandit_env.extras import MissingExtraError
from graph_bandit_lab.design import Overrides, own_graphs, read_sweep

PARTLY_MOLECULES = """
agents = ["random"]
[[grid]]
task = "plain"
environment = {num_graphs = 3, num_nodes = 2, horizon = 3}
[[grid]]
task = "logp"
environment = {graphs = "library", target = "logp", horizon = 3}
[[grid]]
task = "qed"
environment = {graphs = "library", target = "qed", horizon = 3}
"""


@pytest.fixture
def without_rdkit(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    own_graphs._read.cache_clear()
    own_graphs._outline.cache_clear()
    path = tmp_path / "partly.toml"
    path.write_text(PARTLY_MOLECULES)
    return path


def test_tasks_that_need_a_missing_extra_are_left_out_with_a_note(without_rdkit):
    for chosen in ((), ("task=plain",)):
        sweep = read_sweep(without_rdkit, Overrides(environments=chosen))
        assert [grid.task.name for grid in sweep.grids] == ["plain"]
        (note,) = sweep.notes
        assert note.startswith("Left out: logp, qed. ")
        assert note.endswith("needs RDKit: pip install 'graph-bandit-env[chem]', or in a clone '.[chem]'.")


def test_a_task_that_was_asked_for_is_refused_with_its_extra(without_rdkit):
    with pytest.raises(MissingExtraError, match=r"needs RDKit: pip install 'graph-bandit-env\[chem\]'"):
        read_sweep(without_rdkit, Overrides(environments=("task=plain,qed",)))


@pytest.mark.parametrize("left", [("logp", "qed"), ("",)])
def test_a_sweep_of_which_nothing_remains_is_refused_with_its_extra(without_rdkit, left):
    head, *grids = PARTLY_MOLECULES.split("[[grid]]")
    kept = [grid.replace('task = "logp"', "") for grid in grids if left == ("",) or "library" in grid]
    without_rdkit.write_text("[[grid]]".join([head, *kept]))
    with pytest.raises(MissingExtraError, match=r"pip install 'graph-bandit-env\[chem\]'"):
        read_sweep(without_rdkit)
