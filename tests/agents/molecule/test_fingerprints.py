import pytest
import torch
from rdkit import Chem
from rdkit.Chem.rdFingerprintGenerator import (
    GetAtomPairGenerator,
    GetMorganFeatureAtomInvGen,
    GetMorganGenerator,
    GetTopologicalTorsionGenerator,
)
from rdkit.DataStructs import TanimotoSimilarity
from support.molecules import ODD_MOLECULES

from agents.descriptors import compute_descriptors
from agents.molecule.fingerprints import Fingerprint

SMILES = (*ODD_MOLECULES, "CCCCCC(=O)NCc1ccccc1Cl")
EVERY = torch.arange(len(SMILES))


def kernel(smiles, kind, stereo=False):
    return Fingerprint(kind, compute_descriptors(smiles, [kind], stereo).counts[kind])


@pytest.mark.parametrize(
    ("kind", "generator"),
    [
        ("atom_pairs", GetAtomPairGenerator(fpSize=4096)),
        ("ecfp", GetMorganGenerator(radius=3, fpSize=4096)),
        ("torsions", GetTopologicalTorsionGenerator(fpSize=4096)),
        ("fcfp", GetMorganGenerator(2, fpSize=4096, atomInvariantsGenerator=GetMorganFeatureAtomInvGen())),
    ],
)
def test_similarity_is_that_of_rdkit(kind, generator):
    rows, columns = EVERY[[1, 4, 5, 7]], EVERY[[1, 4, 5, 7, 4]]  # those with torsions: without any, RDKit says 0
    prints = [generator.GetCountFingerprint(Chem.MolFromSmiles(text)) for text in SMILES]
    expected = [[TanimotoSimilarity(prints[i], prints[j]) for j in columns] for i in rows]
    found = kernel(SMILES, kind).columns(rows, columns)[0]
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("kind", ["atom_pairs", "ecfp", "torsions", "fcfp"])
def test_stereoisomers_differ_on_request(kind):
    hands, both = ["C[C@H](N)C(=O)Nc1ccccc1", "C[C@@H](N)C(=O)Nc1ccccc1"], torch.arange(2)
    assert (kernel(hands, kind).columns(both, both) == 1).all()
    assert kernel(hands, kind, stereo=True).columns(both, both)[0, 0, 1] < 1


def test_one_pair_makes_a_molecule_unlike_one_without():
    counts = kernel(["CC", "C"], "atom_pairs")
    assert counts.columns(torch.arange(2), torch.arange(2))[0].tolist() == [[1, 0], [0, 1]]
