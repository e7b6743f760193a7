"""What is timed is right, and every table can be measured on small sizes."""

import gzip

import numpy as np
import pandas as pd
import pytest
import torch
from rdkit import Chem
from rdkit.Chem.Crippen import MolLogP
from support.graphs import ragged_graphs
from support.molecules import some_molecules
from torch_geometric.data import Batch

from benchmarks.speed import kernels, measure, molecules, serve, start, vector, whole_run
from benchmarks.speed.large import million, prepared, score, suggest
from benchmarks.speed.plain import PlainFit, infinite_width_kernel_in_torch, one_backward_per_graph
from gntk import GraphMLP, aggregate_neighbours, infinite_width_kernel
from gntk.engines import Batches, CompiledNetwork

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def graphs():
    return aggregate_neighbours(Batch.from_data_list(ragged_graphs(sizes=(5, 1, 7, 3, 6))))


@pytest.fixture(scope="module")
def weights():
    return [weight.detach() for weight in GraphMLP(4, 10, zero_start=False).weights]


def test_the_compiled_descent_is_that_of_an_optimizer_on_autograd(graphs, weights):
    batches = Batches.of_size(torch.tensor([0, 3, 3, 1, 4, 2, 2]), torch.randn(7), 3)
    fit = PlainFit(weights, graphs, learning_rate=0.1, penalty=0.02)
    for index, targets in batches:
        fit.step(index.tolist(), targets)
    found = CompiledNetwork(graphs, weights).descend(weights, weights, batches, 0.1, 0.02)
    torch.testing.assert_close(found, [weight.detach() for weight in fit.network.parameters()])


def test_the_compiled_scores_are_those_of_one_backward_per_graph(graphs, weights):
    values, squares = one_backward_per_graph(weights, graphs, torch.ones(50))
    network = CompiledNetwork(graphs, [weight.detach() for weight in GraphMLP(4, 10).weights])  # it begins at 0
    found_values, found_squares = network.values_and_squares(weights, torch.ones(50))
    torch.testing.assert_close(found_values, values)
    torch.testing.assert_close(found_squares.float(), squares)


def test_the_compiled_kernel_is_that_of_one_arc_cosine_a_pair(graphs):
    torch.testing.assert_close(infinite_width_kernel(graphs), infinite_width_kernel_in_torch(graphs), rtol=0, atol=1e-8)
    assert kernels.infinite_width(num_graphs=3, num_nodes=4, pairs=1).value > 0


def test_whole_runs_and_pools_are_measured():
    run = whole_run.play("gnn-ts:width=8,steps=2", num_graphs=4, num_nodes=5, horizon=3, repetitions=2)
    assert [len(clock) for clock in run["clocks"]] == [3, 3]
    assert len(set(run["regret"])) == 2
    assert measure.in_a_process_of_its_own(score.__name__, 12, 4, 3)["choice"] > 0
    assert vector.compare_padded_steps(2).value > 0


def test_a_comparison_is_the_median_ratio_of_neighbours(monkeypatch):
    times = iter([2.0, 1.0, 9.0, 3.0, 40.0, 10.0])  # both slow down together, as on a noisy machine
    monkeypatch.setattr(measure, "seconds", lambda function: next(times))
    assert measure.compare(int, int, pairs=3) == (3.0, 9.0, 3.0)


def test_commands_and_the_server_are_timed():
    assert all(row.value > 0 for row in serve.rows(molecules=60, own=4, pairs=1))
    assert all(row.value > 0 for row in start.rows(1))


def test_ratings_are_timed_in_a_process_of_their_own():
    rows = molecules.time_ratings(molecules.drug_like(60), numbers=(4, 7))
    assert rows[-1].value == pytest.approx(np.log(rows[2].value / rows[0].value) / np.log(7 / 4))


def test_many_molecules_are_different_and_have_their_properties(tmp_path, monkeypatch):
    monkeypatch.setattr(million, "AT_A_TIME", 100)
    settings = million.MillionSettings(out=tmp_path / "pool.csv.gz", molecules=300, workers=1)
    million.write(settings)
    _, *rows = (line.split(",") for line in gzip.decompress(settings.out.read_bytes()).decode().splitlines())
    assert len({smiles for _, smiles, *_ in rows}) == 300
    for _, smiles, logp, _ in rows[::50]:
        assert Chem.MolToSmiles(Chem.MolFromSmiles(smiles)) == smiles
        assert float(logp) == pytest.approx(MolLogP(Chem.MolFromSmiles(smiles)), abs=1e-4)


def test_pools_are_prepared_and_suggested_from(tmp_path, capfd):
    pool = some_molecules(60)
    table = pd.DataFrame({"smiles": pool.smiles, "score": pool.targets})
    table.to_csv(tmp_path / "docking_pool.csv.gz", index=False)
    suggest.main(["--data", str(tmp_path), "--molecules", "45", "--measured", "5", "--n", "4", "--three-goals"])
    assert "above the imports" in capfd.readouterr().out
    prepared.main([str(tmp_path / "docking_pool.csv.gz"), "--out", str(tmp_path / "new"), "--workers", "1"])
    assert "room" in capfd.readouterr().out
