"""Pools of few molecules, whose studies are played in this process."""

import pandas as pd
import pytest
from support.molecules import some_molecules

from benchmarks import kept_tasks
from benchmarks.pools import study
from graph_bandit_lab.execution import InProcess


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    monkeypatch.setattr(kept_tasks, "Processes", lambda count: InProcess())
    study.read_pool.cache_clear()


@pytest.fixture
def folder(tmp_path):
    """A folder with three pools of 90 molecules: zinc_QED, zinc_LogP with the values reversed, and zinc_Median_1."""
    (tmp_path / "rbo").mkdir()
    molecules = some_molecules(90)
    for number, name in enumerate(("QED", "LogP", "Median_1")):
        table = pd.DataFrame({"smiles": molecules.smiles, "target": molecules.targets * (-1) ** number + number})
        table.to_csv(tmp_path / "rbo" / f"zinc_{name}.csv.gz", index=False)
    return tmp_path
