"""Two ways for a network to help the molecule- agents, as columns of numbers; neither pays, as the figures show."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from rdkit import Chem
from rdkit.Chem import rdMolDescriptors
from sklearn.decomposition import TruncatedSVD
from torch import Tensor
from torch_geometric.data import Batch

from agents.contract import read_graphs
from agents.molecule import MolecularNetwork
from benchmarks.pools.models.forest import atom_pair_bits
from benchmarks.pools.screening import Floats, Indices
from graph_bandit_env import MoleculeSet

Columns = Callable[[MoleculeSet, Indices, Floats, int], Floats]
"""Returns numbers `(K, c)` of K molecules, given those measured, their values, and a seed."""

FOLDS = 5
STEPS, PASSES = 300, 15  # of a network on the values, in batches; and on the pool, in passes over it
BATCH, RATE = 64, 2e-3
MASKED = 0.15  # share of the atoms that are hidden from a network that learns from the pool
COMPONENTS = 64  # of the fingerprints that it learns to predict


def pretrained(molecules: MoleculeSet, measured: Indices, values: Floats, seed: int) -> Floats:
    """Return an embedding that a network learns from the pool alone, without any value: `(K, 56)`.

    The network sees molecules without some of their atoms, and predicts 42 molecular quantum numbers and the largest
    components of the fingerprints. The embedding is its last hidden layer.

    Args:
        molecules: the pool.
        measured: not read.
        values: not read.
        seed: seed of weights, batches and hidden atoms.
    """
    known = [Chem.MolFromSmiles(text) for text in molecules.smiles]
    numbers = np.array([rdMolDescriptors.MQNs_(molecule) for molecule in known], np.float64)
    bits = TruncatedSVD(COMPONENTS, random_state=0).fit_transform(atom_pair_bits(molecules.smiles))
    graphs = read_graphs(None, molecules)
    targets = _standardise(np.concatenate([numbers, bits], axis=1))
    steps = PASSES * -(-len(molecules) // BATCH)
    network = _train(graphs, np.arange(len(molecules)), targets, steps, seed, MASKED)
    network.output = torch.nn.Identity()  # type: ignore[assignment]
    return _predict(network, graphs)


def cross_fitted(molecules: MoleculeSet, measured: Indices, values: Floats, seed: int) -> Floats:
    """Return what five networks predict, each of results that it has not seen: `(K, 1)`.

    The results are split in five. A molecule that was measured has the prediction of the network that was trained
    without its result, any other the mean of all five.

    Args:
        molecules: the pool.
        measured: `(t,)`, molecules measured.
        values: `(t,)`, their values.
        seed: seed of folds, weights and batches.
    """
    graphs, folds = read_graphs(None, molecules), np.random.default_rng(seed).permutation(len(measured)) % FOLDS
    told = []
    for k in range(FOLDS):
        others = values[folds != k, None]
        network = _train(graphs, measured[folds != k], _standardise(others), STEPS, seed + k, masked=0.0)
        told.append(others.mean() + others.std() * _predict(network, graphs))
    predictions = np.concatenate(told, axis=1)
    column = predictions.mean(axis=1)
    column[measured] = predictions[measured, folds]
    return np.asarray(column[:, None], np.float64)


def _train(graphs: Batch, index: Indices, targets: Floats, steps: int, seed: int, masked: float) -> MolecularNetwork:
    """Fit a network to the targets `(n, c)` of the graphs `index` `(n,)` by the squared error."""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = MolecularNetwork(graphs.x.shape[1], graphs.edge_attr.shape[1])
        network.output = torch.nn.Linear(network.hidden.out_features, targets.shape[1])
    wanted, optimiser = torch.from_numpy(targets).float(), torch.optim.Adam(network.parameters(), RATE)
    examples = graphs.index_select(index.tolist())
    for _ in range(steps):
        rows = torch.randint(len(index), (min(BATCH, len(index)),), generator=generator)
        batch = Batch.from_data_list([examples[row] for row in rows.tolist()])
        batch.x = batch.x * (torch.rand(len(batch.x), 1, generator=generator) >= masked)
        optimiser.zero_grad()
        loss: Tensor = (network(batch).reshape(len(rows), -1) - wanted[rows]).square().mean()
        loss.backward()
        optimiser.step()
    return network


def _predict(network: MolecularNetwork, graphs: Batch) -> Floats:
    with torch.no_grad():
        return np.asarray(network(graphs).reshape(graphs.num_graphs, -1), np.float64)


def _standardise(values: Floats) -> Floats:
    spread = values.std(axis=0)
    return np.asarray((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0), np.float64)
