"""Replays of small pools: scores and models by their definitions, and tables of what was played."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem, rdBase
from rdkit.Chem import rdMolDescriptors
from support.molecules import some_molecules

from benchmarks.pools import __main__ as command_line
from benchmarks.pools import hits, replay, study
from benchmarks.pools.models.forest import atom_pair_bits
from benchmarks.pools.models.tanimoto import Tanimoto, TanimotoProcess
from benchmarks.pools.screening import Plan, share_of_top
from graph_bandit_lab.execution import InProcess

pytestmark = pytest.mark.slow


@pytest.fixture
def command(tmp_path, monkeypatch):
    """The start of a command that plays pools of 90 molecules in this process, zinc_LogP and zinc_QED."""
    monkeypatch.setattr(study, "Processes", lambda count: InProcess())
    monkeypatch.setitem(replay.PLANS, "zinc", (Plan(10, 5, 2), *replay.PLANS["zinc"][1:]))
    (tmp_path / "rbo").mkdir()
    molecules = some_molecules(90)
    for name, sign in (("QED", 1), ("LogP", -1)):
        table = pd.DataFrame({"smiles": molecules.smiles, "target": sign * molecules.targets})
        table.to_csv(tmp_path / "rbo" / f"zinc_{name}.csv.gz", index=False)
    return ["--pools", "zinc_QED", "zinc_LogP", "--data", str(tmp_path), "--out", str(tmp_path / "out.csv")]


def test_a_replay_plays_what_is_missing(command, capsys, monkeypatch):
    command = ["replay", "--plan", "zinc", *command, "--seeds", "2", "--by-pool", "--players", "tanimoto-ei"]
    assert command_line.main(command) == 0
    assert command_line.main([*command, "random", "forest-ucb"]) == 0
    shown = capsys.readouterr().out
    assert "computed: % of the way, 2 pools, with 95 % intervals over pools" in shown
    assert len(pd.read_csv(command[command.index("--out") + 1])) == 2 * 2 * 3
    monkeypatch.setattr(replay, "play", lambda *task: 1 / 0)
    assert command_line.main([*command, "random", "forest-ucb"]) == 0  # nothing is played again
    assert shown.endswith(capsys.readouterr().out)


def test_coverage_is_tested_on_both_splits(command, capsys):
    command = ["coverage", *command, "--players", "molecule-ucb", "--results", "20", "--draws", "1"]
    assert command_line.main(command) == 0
    assert {row.split()[0] for row in capsys.readouterr().out.splitlines()[4:]} == {"random", "scaffold"}


def test_hits_are_found_and_their_probabilities_compared(command, capsys, monkeypatch):
    monkeypatch.setattr(hits, "START", 40)
    monkeypatch.setattr(hits, "BATCH", 8)
    assert command_line.main(["hits", *command, "--seeds", "1"]) == 0
    rows = pd.read_csv(command[-1])
    assert rows[hits.FOUND].dropna().between(0, 100).sum() == 2 * 3
    counts = rows.groupby(["player", "suggested"])["molecules"].sum()
    assert counts["class", 1] == counts["number", 1] == 2 * 5 * 8
    assert "class, suggested: Brier score" in capsys.readouterr().out


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12), st.data())
def test_the_share_of_the_top_is_that_of_a_multiset(values, data):
    order = data.draw(st.permutations(range(len(values))))[: data.draw(st.integers(0, len(values)))]
    n = data.draw(st.integers(1, len(values)))
    common = Counter(sorted(values)[-n:]) & Counter(values[k] for k in order)
    assert share_of_top(values, order, n) == common.total() / n


def test_bits_are_those_of_molpal():
    molecules = some_molecules(20)
    for smiles, row in zip(molecules.smiles, atom_pair_bits(molecules.smiles), strict=True):
        with rdBase.BlockLogs():  # it is deprecated
            found = rdMolDescriptors.GetHashedAtomPairFingerprintAsBitVect(
                Chem.MolFromSmiles(smiles), minLength=1, maxLength=3, nBits=2048
            )
        assert np.flatnonzero(row).tolist() == list(found.GetOnBits())


def test_the_tanimoto_process_is_the_closed_form():
    molecules, measured = some_molecules(60), np.random.default_rng(0).permutation(60)[:40]
    values = 100 + 5 * (molecules.targets[measured] + np.random.default_rng(1).normal(0, 1.5, 40))
    model = TanimotoProcess()
    model.begin(molecules, seed=0)
    mean, standardised = model.predict(measured, values).mean, (values - values.mean()) / values.std()
    fitted = model.fit(measured, standardised).kernel_
    similarity = fitted.k1.k1.constant_value * Tanimoto(molecules.smiles)(np.arange(60), measured)
    weights = np.linalg.solve(similarity[measured] + fitted.k2.noise_level * np.eye(40), standardised)
    np.testing.assert_allclose(mean, values.mean() + values.std() * similarity @ weights, rtol=1e-5)
