"""Hidden causes by which molecules of a pool fail."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env import MoleculeSet

LEAST, MOST = 0.15, 0.25  # share of a pool that fails by a cause
MOST_CAUSES = 3  # substructures a pool
RANDOM, LIPOPHILIC = "random", "large logP"
SUBSTRUCTURES = {
    "sulfonyl": "S(=O)=O",
    "aliphatic amine": "[NX3;!$(N-[C,S,P]=[O,S,N]);!$(N-a);!$(N-C=*)]([CX4,#1])[CX4]",
    "halogen": "[F,Cl,Br,I]",
    "nitro": "[N+](=O)[O-]",
    "methoxy": "[CH3][OX2]c",
    "alcohol": "[OX2H][CX4]",
    "ester": "[CX3](=O)[OX2][#6]",
    "pyridine": "n1ccccc1",
    "chlorine": "[Cl]",
    "benzyl on N or O": "[CH2;R0](c)[#7,#8]",
    "para-disubstituted": "[!#1]-!@c1ccc(-!@[!#1])cc1",
    "imidazole or pyrazole": "[nr5]1[c,n]c[c,n][c,n]1",
    "fluorine": "[F]",
    "piperidine": "N1CCCCC1",
    "aniline": "[NX3;H2,H1;!$(N-[C,S,P]=[O,S,N])]c",
}


def find_causes(pool: str, molecules: MoleculeSet) -> dict[str, NDArray[np.bool_]]:
    """Return who fails by each cause: up to three substructures that 15 to 25 % have, large logP, and chance.

    Args:
        pool: name of the pool, by which chance draws 20 %.
        molecules: K molecules.
    """
    from rdkit import Chem
    from rdkit.Chem import Crippen

    crippen: Any = Crippen  # RDKit's stubs lack `MolLogP`
    graphs: list[Any] = [Chem.MolFromSmiles(text) for text in molecules.smiles]
    causes: dict[str, NDArray[np.bool_]] = {}
    for name, smarts in SUBSTRUCTURES.items():
        pattern = Chem.MolFromSmarts(smarts)
        fails = np.array([graph.HasSubstructMatch(pattern) for graph in graphs])
        if LEAST <= fails.mean() <= MOST and len(causes) < MOST_CAUSES:
            causes[name] = fails
    logp = np.array([crippen.MolLogP(graph) for graph in graphs])
    draws = np.random.default_rng(zlib.crc32(pool.encode())).random(len(graphs))
    return causes | {LIPOPHILIC: logp > np.quantile(logp, 0.8), RANDOM: draws < 0.2}
