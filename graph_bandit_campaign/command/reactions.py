"""Make invented reactions to try `graph-bandit suggest`: a ligand, a base, a solvent and a temperature."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

LIGANDS = {  # SMILES: electron donation to the metal, and bulk
    "": (0.0, 0.0),
    "CP(C)C": (0.5, 0.1),
    "CCCCP(CCCC)CCCC": (0.6, 0.3),
    "c1ccc(cc1)P(c1ccccc1)c1ccccc1": (0.25, 0.4),
    "Cc1ccccc1P(c1ccccc1C)c1ccccc1C": (0.35, 0.75),
    "c1coc(c1)P(c1ccco1)c1ccco1": (0.1, 0.35),
    "C1CCC(CC1)P(C1CCCCC1)C1CCCCC1": (0.8, 0.7),
    "CP(C(C)(C)C)C(C)(C)C": (0.8, 0.65),
    "CC(C)(C)P(C(C)(C)C)C(C)(C)C": (0.9, 0.95),
    "COc1cccc(OC)c1-c1ccccc1P(C1CCCCC1)C1CCCCC1": (0.85, 0.8),
    "CC(C)c1cc(C(C)C)c(c(C(C)C)c1)-c1ccccc1P(C1CCCCC1)C1CCCCC1": (0.85, 0.9),
}
BASES = {"K3PO4": 0.6, "KF": 0.4, "Cs2CO3": 0.75, "NEt3": 0.2}
SOLVENTS = {"Cc1ccccc1": 0.1, "C1COCCO1": 0.3, "C1CCOC1": 0.4, "CCO": 0.7, "CN(C)C=O": 0.8}
TEMPERATURES = (40, 60, 80, 100)
COLUMNS = ("id", "ligand_smiles", "base", "solvent_smiles", "temp_c")


def example_reactions(generator: np.random.Generator) -> list[tuple[tuple[str, ...], float]]:
    """Return 880 reactions, each as the cells of `COLUMNS`, with an invented yield in percent, noise included.

    Bulky, electron-rich ligands are good, with strong bases in solvents that are not too polar, at 80 degrees.

    Args:
        generator: generator of the noise, whose standard deviation is 2.
    """
    made = list[tuple[tuple[str, ...], float]]()
    for number, (ligand, base, solvent, degrees) in enumerate(product(LIGANDS, BASES, SOLVENTS, TEMPERATURES), 1):
        (gives, bulk), strength, polarity = LIGANDS[ligand], BASES[base], SOLVENTS[solvent]
        score = 3 * gives + 2.5 * (1 - 6 * (bulk - 0.7) ** 2) + 3 * strength * (1 - 2 * abs(polarity - 0.35))
        score += 1.5 * gives * strength - ((degrees - 80) / 28) ** 2 - 5
        percent = 100 / (1 + math.exp(-score)) + generator.normal(scale=2)
        cells = (f"R{number:03d}", ligand, base, solvent, str(degrees))
        made.append((cells, round(float(np.clip(percent, 0, 100)), 1)))
    return made
