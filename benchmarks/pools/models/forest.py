"""A random forest on atom pairs with MolPAL's settings, the usual first choice for screening docking scores."""

from __future__ import annotations

import numpy as np
from rdkit import Chem
from rdkit.Chem import rdFingerprintGenerator
from sklearn.ensemble import RandomForestRegressor

from agents.contract import Prediction
from benchmarks.pools.screening import Floats, Indices
from graph_bandit_env import MoleculeSet

TREES, DEPTH, LEAF = 100, 8, 1
BITS, SHORTEST, LONGEST = 2048, 1, 3


class Forest:
    """A random forest, refitted each round, with the variance over its trees.

    The settings are MolPAL's defaults [Graff et al. 2021; coleygroup/molpal, molpal/args.py, featurizer.py and
    models/sklmodels.py]: 100 trees of depth 8, at least one molecule in a leaf, all bits at each split, on 2,048 bits
    of atom pairs that are 1 to 3 bonds apart (its radius of 2), where bits count a pair up to 8 times; beta = 2 in
    mean + beta std. Only the seed is our own; it changes each round.
    """

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Compute the fingerprints."""
        self._bits = atom_pair_bits(molecules.smiles)
        self._generator = np.random.default_rng(seed)

    def predict(self, measured: Indices, values: Floats) -> Prediction:
        """Return the mean and standard deviation over the trees for all K molecules; it knows of no noise."""
        seed = int(self._generator.integers(2**31))
        forest = RandomForestRegressor(TREES, max_depth=DEPTH, min_samples_leaf=LEAF, n_jobs=1, random_state=seed)
        forest.fit(self._bits[measured], values)
        trees = np.stack([tree.predict(self._bits, check_input=False) for tree in forest.estimators_])
        return Prediction(trees.mean(axis=0), trees.std(axis=0), noise_std=0.0)


def atom_pair_bits(smiles: tuple[str, ...]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return the fingerprints that MolPAL calls `pair`, `(K, 2048)`."""
    generator = rdFingerprintGenerator.GetAtomPairGenerator(minDistance=SHORTEST, maxDistance=LONGEST, fpSize=BITS)
    rows = [generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(text)).astype(np.float32) for text in smiles]
    return np.stack(rows)
