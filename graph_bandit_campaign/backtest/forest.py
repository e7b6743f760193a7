"""A random forest on atom pairs, the usual first model for a table of molecules."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env import MoleculeSet
from graph_bandit_env.extras import require

TREES, DEPTH = 100, 8
BITS, SHORTEST, LONGEST = 2048, 1, 3


class ForestPlayer:
    """Choose the molecules with the largest predictions of a random forest, refitted in every round.

    The settings are MolPAL's [Graff et al. 2021]: 100 trees of depth 8, all bits at each split, on 2,048 bits of atom
    pairs that are one to three bonds apart.

    Raises:
        MissingExtraError: if scikit-learn is not installed.
    """

    def __init__(self) -> None:
        require("sklearn", "A random forest")

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Compute the fingerprints."""
        from rdkit import Chem
        from rdkit.Chem.rdFingerprintGenerator import GetAtomPairGenerator

        generator = GetAtomPairGenerator(minDistance=SHORTEST, maxDistance=LONGEST, fpSize=BITS)
        prints = [generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(text)) for text in molecules.smiles]
        self._bits = np.stack(prints).astype(np.float32)
        self._generator = np.random.default_rng(seed)

    def choose(self, measured: NDArray[np.int64], rewards: NDArray[np.float64], count: int) -> NDArray[np.int64]:
        """Return the molecules with the largest predictions; of equal ones, some at random."""
        from sklearn.ensemble import RandomForestRegressor

        seed = int(self._generator.integers(2**31))
        forest = RandomForestRegressor(TREES, max_depth=DEPTH, n_jobs=1, random_state=seed)
        forest.fit(self._bits[measured], rewards)
        left = np.setdiff1d(np.arange(len(self._bits)), measured)
        means = forest.predict(self._bits[left])
        return left[np.lexsort((self._generator.random(len(left)), -means))[:count]]

    def forecast(self) -> None:
        """Return None: its spread is not a forecast."""
        return
