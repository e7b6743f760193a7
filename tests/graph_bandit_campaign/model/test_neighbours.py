from rdkit import Chem
from rdkit.Chem.rdFingerprintGenerator import GetAtomPairGenerator
from rdkit.DataStructs import TanimotoSimilarity
from support.molecules import some_molecules

from graph_bandit_campaign.model.reasons import nearest_measured

MOLECULES = some_molecules()
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
SMILES = dict(zip(NAMES, MOLECULES.smiles, strict=True))
VALUES = dict(zip(NAMES, MOLECULES.targets.tolist(), strict=True))


def test_the_nearest_are_those_of_largest_similarity():
    generator = GetAtomPairGenerator(fpSize=4096)
    prints = {name: generator.GetCountFingerprint(Chem.MolFromSmiles(text)) for name, text in SMILES.items()}
    values = {name: VALUES[name] for name in NAMES[5:]}
    (found,) = nearest_measured(["m0"], values, SMILES, 3).values()
    best = sorted(values, key=lambda name: -TanimotoSimilarity(prints["m0"], prints[name]))[:3]
    assert [neighbour.id for neighbour in found] == best
    assert [neighbour.value for neighbour in found] == [VALUES[name] for name in best]
