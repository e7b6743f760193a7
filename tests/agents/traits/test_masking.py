"""Traits of molecules without each of their atoms."""

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import rdFingerprintGenerator

from agents.molecule import TRAITS, mask_atoms
from agents.traits import BINS, compute_traits

SMILES = ("c1ccccc1", "CCO", "CC(=O)Nc1ccc(O)cc1", "C[C@H](N)C(=O)O", "CC[NH3+].[Cl-]", "C")


def dense(counts):
    rows = np.zeros((len(counts), BINS), np.int64)
    for k in range(len(counts)):
        entries = slice(counts.offsets[k], counts.offsets[k + 1])
        rows[k, counts.bins[entries]] = counts.counts[entries]
    return rows


@pytest.mark.parametrize("smiles", SMILES)
def test_the_first_row_is_the_whole_molecule_and_the_others_have_less(smiles):
    masked, whole = mask_atoms(smiles, TRAITS), compute_traits([smiles])
    assert len(masked) == 1 + Chem.MolFromSmiles(smiles).GetNumAtoms()
    for kind, counts in masked.counts.items():
        rows = dense(counts)
        assert (rows[0] == dense(whole.counts[kind])[0]).all()
        assert (rows[1:] <= rows[0]).all()
    for name, numbers in masked.numbers.items():
        assert np.array_equal(numbers, np.repeat(whole.numbers[name], len(masked), axis=0), equal_nan=True)


@pytest.mark.parametrize("smiles", SMILES)
@pytest.mark.parametrize("kind", ["atom_pairs", "torsions"])
def test_pairs_and_paths_are_those_that_rdkit_counts_when_it_ignores_the_atom(smiles, kind):
    names = {"atom_pairs": "GetAtomPairGenerator", "torsions": "GetTopologicalTorsionGenerator"}
    generator, molecule = getattr(rdFingerprintGenerator, names[kind])(fpSize=BINS), Chem.MolFromSmiles(smiles)
    rows = dense(mask_atoms(smiles, (kind,)).counts[kind])
    for atom in range(molecule.GetNumAtoms()):
        expected = generator.GetCountFingerprint(molecule, ignoreAtoms=[atom]).GetNonzeroElements()
        assert {int(key): int(rows[1 + atom, key]) for key in np.flatnonzero(rows[1 + atom])} == expected


@pytest.mark.parametrize(("kind", "radius"), [("morgan", 3), ("roles", 2)])
def test_neighbourhoods_that_reach_an_atom_go_with_it(kind, radius):
    last = 8  # of a chain, in which a neighbourhood is an interval; RDKit counts equal ones once
    rows = dense(mask_atoms("CCCCCCCCN", (kind,)).counts[kind]).sum(axis=1)
    reach = {(max(0, at - far), min(last, at + far)) for at in range(last + 1) for far in range(1, radius + 1)}
    assert rows[0] - rows[-1] == 1 + sum(end == last for _, end in reach)
