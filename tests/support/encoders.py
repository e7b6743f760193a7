"""A package with pretrained encoders, as somebody may install it."""

CODE = """
import numpy as np

def mine(smiles):
    if any("Si" in text for text in smiles):
        raise RuntimeError("no silicon")
    return np.array([[text.count("C"), text.count("O"), len(text)] for text in smiles])

def flat(smiles):
    return np.ones(len(smiles))
"""
POINTS = "[graph_bandit.encoders]\nmine = our_encoders:mine\nflat = our_encoders:flat\n"


def install(folder, patch):
    """Install the package into a folder, for as long as the test lasts: encoders `mine` and `flat`."""
    (folder / "our_encoders.py").write_text(CODE)
    facts = folder / "our_encoders-2.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: our-encoders\nVersion: 2.0\n")
    (facts / "entry_points.txt").write_text(POINTS)
    patch.syspath_prepend(folder)
