"""Columns of the user's own, from the tables and files of `suggest` to the agent's door."""

import numpy as np
import pandas as pd
import pytest
from support.molecules import some_molecules
from support.tables import write

import registry
from graph_bandit_campaign import Campaign, Store
from graph_bandit_cli.main import main
from graph_bandit_env import from_smiles

NAN = np.nan
MOLECULES = some_molecules(12)
SMILES = {f"m{k}": text for k, text in enumerate(MOLECULES.smiles)}
VALUES = {f"m{k}": value for k, value in enumerate(MOLECULES.targets.tolist())}
DOCK = {name: 0.0 - k for k, name in enumerate(SMILES)}
AGENT = "molecule-ucb"


def write_pool(dock=DOCK, names=("id", "smiles", "dock")):
    write("pool.csv", [names, *((name, text, dock.get(name, "")) for name, text in SMILES.items())])


def write_results(*more, names=("id", "logp")):
    write("results.csv", [names, *((name, VALUES[name]) for name in list(SMILES)[:4]), *more])


@pytest.fixture
def seen(tmp_path, monkeypatch):
    """Molecules that agents were reset with."""
    monkeypatch.chdir(tmp_path)
    kind, sets = type(registry.make_agent("molecule-ucb")), []
    reset = kind.reset

    def spy(self, observation, seed=0, graph_set=None):
        sets.append(graph_set)
        reset(self, observation, seed, graph_set)

    monkeypatch.setattr(kind, "reset", spy)
    write_pool()
    write_results()
    return sets


def suggest(*more, agent=AGENT, pool="pool.csv"):
    command = ["suggest", pool, "--measured", "results.csv", "--n", "2", "--maximize", "logp", "--out", "out.csv"]
    return main([*command, "--agent", agent, *more])


def columns_of(molecules):
    return {name: row.tolist() for name, row in zip(molecules.ids, molecules.columns, strict=True)}


def test_results_have_columns_of_molecules_outside_and_fill_the_gaps_of_the_pool(seen):
    write_pool({name: value for name, value in DOCK.items() if name not in ("m0", "m1")})
    rows = [
        ("m0", "", 1.0, 5),
        ("m0", "", 1.1, 6),
        ("m2", "", 2.0, 99),
        ("x", "CCCCCCCC", 3.0, 7),
        ("y", "CCCCCO", 4, ""),
    ]
    write("results.csv", [("id", "smiles", "logp", "Dock"), *rows])
    assert suggest("--features", "dock") == 0
    found = columns_of(seen[-1])
    np.testing.assert_equal(
        {name: found[name] for name in ("m0", "m1", "m2", "m3", "x", "y")},
        {"m0": [5.5], "m1": [NAN], "m2": [-2.0], "m3": [-3.0], "x": [7.0], "y": [NAN]},
    )


def test_files_of_embeddings_join_pool_and_results(seen):
    names = [name for name in SMILES if name not in ("m5", "m6")]
    np.savez("prints.npz", ids=[*names, "CCCCCCCC"], values=np.arange(2.0 * len(names) + 2).reshape(-1, 2))
    frame = pd.DataFrame({"id": list(SMILES), "smiles": list(SMILES.values()), "mass": np.arange(12.0)})
    frame.to_parquet("side.parquet")
    write("results.csv", [("id", "smiles", "logp"), ("m0", "", 1.0), ("x", "CCCCCCCC", 3.0)])
    assert suggest("--features", "prints.npz", "dock", "side.parquet") == 0
    assert seen[-1].column_names == ("dock", "prints.npz:0", "prints.npz:1", "side.parquet:mass")
    found = columns_of(seen[-1])
    np.testing.assert_equal(
        {name: found[name] for name in ("m1", "m5", "x")},
        {"m1": [-1, 2, 3, 1], "m5": [-5, NAN, NAN, 5], "x": [NAN, 20, 21, NAN]},
    )


def test_other_embeddings_are_another_question(seen):
    rounds = []
    for scale in (1, 1, 2):
        np.savez("prints.npz", ids=[*SMILES], values=scale * np.arange(len(SMILES), dtype=float))
        assert suggest("--features", "prints.npz") == 0
        rounds.append(len(Store("out.campaign.json").state.rounds))
    assert rounds == [1, 1, 2]


@pytest.mark.parametrize(
    ("cells", "column", "place"),
    [
        (DOCK | {"m4": "bad"}, "dock", "line 6: "),
        (DOCK | {"m4": "inf"}, "dock", "line 6: "),
        ({}, "dock", "`dock`"),
        (DOCK, "dok", "`dok`"),
        (DOCK, "none.npz", "none.npz"),
        (DOCK, "prints.npz", "prints.npz"),
    ],
)
def test_bad_columns_are_told_and_nothing_is_written(seen, cells, column, place, capsys, tmp_path):
    np.savez("prints.npz", ids=["zz"], values=[1.0])
    write_pool(cells)
    assert suggest("--features", column) == 1
    assert place in capsys.readouterr().err
    assert not {"out.csv", "out.campaign.json"} & {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("agent", ["lin-ucb", "squarecb"])
def test_agents_on_flat_features_predict_by_columns_alone(agent):
    molecules = from_smiles(list(SMILES.values()), columns={"dock": list(DOCK.values())})
    campaign = Campaign(molecules, f"{agent}:features=columns", maximize=True)
    campaign.tell({name: float(k) for k, name in enumerate(molecules.ids) if k % 2 == 0})  # falls with the column
    predicted = campaign.model().predict_means()
    assert np.corrcoef(predicted, list(DOCK.values()))[0, 1] < -0.95
