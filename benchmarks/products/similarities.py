"""Similarities of millions of products to a query, from the fingerprints of pairs of blocks.

The environment of an atom in a product of three blocks lies within two of them and what the reaction makes. So the
bits of the product of blocks a, b and c are those that a and b set, or a and c, or b and c, and the products of all
pairs, each with one third block, are enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from rdkit import Chem
from rdkit.Chem.rdChemReactions import ReactionFromSmarts
from rdkit.Chem.rdFingerprintGenerator import AdditionalOutput, GetMorganGenerator

from graph_bandit_env.pools.products import ProductLibrary

Words = NDArray[np.uint64]
BITS, RADIUS = 2048, 2
PRINTS = GetMorganGenerator(radius=RADIUS, fpSize=BITS)


def similarities(library: ProductLibrary, query: Chem.Mol, same: tuple[int, ...] = ()) -> NDArray[np.float32]:
    """Return the Tanimoto similarity of the Morgan fingerprint of each product to that of a query, `(N,)`.

    Args:
        library: one reaction that joins three blocks, and makes a product of any three.
        query: the molecule.
        same: numbers in the SMARTS of atoms that are alike in all blocks, neighbours aside: they count as made by the
            reaction.

    Raises:
        ValueError: if an environment reaches into all three blocks, or blocks do not react.
    """
    wanted = _words(np.asarray(PRINTS.GetFingerprintAsNumPy(query), bool))
    first, second, others = (_pair_words(library, pair, same) for pair in combinations(range(3), 2))
    values, size = np.empty(library.parts[0].sizes, np.float32), np.bitwise_count(wanted).sum()
    for block in range(len(values)):
        words = others | first[block][:, None] | second[block][None]
        count = np.bitwise_count(words).sum(axis=-1, dtype=np.float32)
        shared = np.bitwise_count(words & wanted).sum(axis=-1, dtype=np.float32)
        values[block] = shared / (size + count - shared)
    return values.reshape(-1)


def _pair_words(library: ProductLibrary, pair: tuple[int, int], same: tuple[int, ...]) -> Words:
    """Return the bits that each two blocks of a pair of slots set, `(n, m, BITS / 64)`."""
    part, (other,) = library.parts[0], {0, 1, 2} - {*pair}
    reaction = ReactionFromSmarts(part.reaction.smarts)
    blocks = [[*map(Chem.MolFromSmiles, slot.smiles)] for slot in part.slots]
    sizes = [part.sizes[slot] for slot in pair]
    words = np.empty((*sizes, BITS // 64), np.uint64)
    for chosen in product(*map(range, sizes)):
        three = [blocks[other][0]] * 3
        for slot, block in zip(pair, chosen, strict=True):
            three[slot] = blocks[slot][block]
        made = reaction.RunReactants(tuple(three), 1)
        if not made:
            raise ValueError(f"Expected any three blocks to react. Blocks {chosen} of slots {pair} do not.")
        bits = np.zeros(BITS, bool)
        bits[[*_bits_without(made[0][0], other, same)]] = True
        words[chosen] = _words(bits)
    return words


def _bits_without(made: Chem.Mol, slot: int, same: tuple[int, ...]) -> Iterator[int]:
    """Yield the bits of the environments that have no atom of the block of a slot."""
    molecule = Chem.MolFromSmiles(Chem.MolToSmiles(made))  # which reads hydrogens as everywhere
    written = made.GetPropsAsDict(True, True)["_smilesAtomOutputOrder"]
    origins = np.array([_origin(made.GetAtomWithIdx(atom), same) for atom in written])
    apart = Chem.GetDistanceMatrix(molecule)
    nearest = np.array([np.min(apart[:, origins == each], axis=1, initial=np.inf) for each in range(3)])
    output = AdditionalOutput()
    output.AllocateBitInfoMap()
    PRINTS.GetFingerprint(molecule, additionalOutput=output)
    for bit, environments in output.GetBitInfoMap().items():
        for atom, radius in environments:
            reached = nearest[:, atom] <= radius
            if reached.all():
                raise ValueError("Expected environments within two blocks. Found one that reaches into all three.")
            if not reached[slot]:
                yield bit


def _origin(atom: Chem.Atom, same: tuple[int, ...]) -> int:
    """Return the slot that an atom is from; -1 if the reaction makes it, or it is alike in all blocks."""
    if not atom.HasProp("react_idx") or (atom.HasProp("old_mapno") and atom.GetIntProp("old_mapno") in same):
        return -1
    return int(atom.GetIntProp("react_idx"))


def _words(bits: NDArray[np.bool_]) -> Words:
    return np.packbits(bits).view(np.uint64)
