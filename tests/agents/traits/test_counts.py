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
