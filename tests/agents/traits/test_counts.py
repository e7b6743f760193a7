import numpy as np
import torch

from agents.molecule.fingerprints import TanimotoKernel
from agents.traits import compute_traits
from agents.traits.counts import MOST, count_features
from agents.traits.traits import read_molecules


class Crowded:
    """A stand-in for a fingerprint of a molecule with more pairs of one kind than 16 bits hold."""

    def GetNonzeroElements(self):  # noqa: N802 - the name that RDKit gave it
        return {7: 3, 2: 1_000_000}


def test_a_count_beyond_sixteen_bits_counts_as_the_largest(monkeypatch):
    class Generator:
        def GetCountFingerprints(self, molecules, numThreads):  # noqa: N802
            return [Crowded() for _ in molecules]

    monkeypatch.setattr("agents.traits.counts.generator_of", lambda *_: Generator())
    found = count_features(read_molecules(["C", "CC"]), "atom_pairs")
    assert (found.bins.tolist(), found.counts.tolist()) == ([2, 7, 2, 7], [MOST, 3, MOST, 3])
    assert found.offsets.tolist() == [0, 2, 4]


def test_long_chains_have_counts_beyond_a_byte_and_are_compared_exactly():
    counts = compute_traits(["C" * 600, "C" * 500, "CCO"], ["atom_pairs"]).counts["atom_pairs"]
    assert counts.counts.max() > 255
    dense = np.zeros((3, 4096))
    for k in range(3):
        part = slice(counts.offsets[k], counts.offsets[k + 1])
        dense[k, counts.bins[part]] = counts.counts[part]
    expected = [[np.minimum(x, y).sum() / np.maximum(x, y).sum() for y in dense] for x in dense]
    for rows in (torch.arange(3), torch.tensor([2])):
        found = TanimotoKernel(counts).columns(rows, torch.arange(3))
        np.testing.assert_allclose(found, np.array(expected)[rows.numpy()], rtol=1e-12)
