"""A reaction that joins one building block of each slot to a product. RDKit runs it on request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graph_bandit_env.extras import require
from graph_bandit_env.pools.molecule_parser import MOST_ATOMS, canonical_smiles, smiles_problem

if TYPE_CHECKING:
    from rdkit.Chem import Mol

MOST_PRODUCTS = 64  # maximum number of reaction outcomes to examine: more of them are ambiguous in any case


class NoProductError(ValueError):
    """Blocks do not give a unique product. The message contains the reason."""


class Reaction:
    """A reaction with one reactant for each slot, and one product.

    Args:
        name: name of the reaction, for ids and messages.
        smarts: reaction SMARTS with the reactants in the order of the slots.
        most_atoms: maximum number of atoms of a product, without hydrogens.

    Raises:
        ValueError: if RDKit cannot read the SMARTS, or it does not have two to four reactants and one product.
        MissingExtraError: if RDKit is not installed.
    """

    slots: int
    """Number of reactants."""

    def __init__(self, name: str, smarts: str, most_atoms: int = MOST_ATOMS) -> None:
        require("rdkit", "Making products")
        from rdkit import rdBase
        from rdkit.Chem.rdChemReactions import ReactionFromSmarts

        self.name, self.smarts, self.most_atoms = name, smarts, most_atoms
        with rdBase.BlockLogs():
            try:
                self._run = ReactionFromSmarts(smarts)
                _, errors = self._run.Validate(silent=True)
            except ValueError as error:
                raise ValueError(
                    f"Expected a reaction SMARTS for `{name}`, reactants>>product. Got {smarts!r:.80}."
                ) from error
            if errors:
                raise ValueError(f"Expected a sound reaction SMARTS for `{name}`. RDKit finds {errors} errors.")
            self._run.Initialize()
        self.slots, products = self._run.GetNumReactantTemplates(), self._run.GetNumProductTemplates()
        if not 2 <= self.slots <= 4 or products != 1:
            raise ValueError(
                f"Expected reaction `{name}` to have two to four reactants and one product. Its SMARTS has "
                f"{self.slots} and {products}."
            )

    def count_sites(self, slot: int, block: Mol) -> int:
        """Count the sites at which a block can react in a slot.

        Args:
            slot: index of the slot, from 0.
            block: the block.
        """
        pattern = self._run.GetReactantTemplate(slot)
        return len(block.GetSubstructMatches(pattern, maxMatches=MOST_PRODUCTS))

    def wants_hydrogens(self, slot: int) -> bool:
        """Return True if the SMARTS of a slot has explicit hydrogens, which blocks do not have."""
        return any(atom.GetAtomicNum() == 1 for atom in self._run.GetReactantTemplate(slot).GetAtoms())

    def product(self, blocks: Sequence[Mol]) -> str:
        """Return the canonical SMILES of the product of some blocks.

        Several reaction sites may lead to the same molecule.

        Args:
            blocks: a block for each slot.

        Raises:
            NoProductError: if the blocks do not react, or give several products or a product that RDKit cannot read.
        """
        from rdkit import Chem, rdBase

        with rdBase.BlockLogs():
            made = {Chem.MolToSmiles(product) for (product,) in self._run.RunReactants(tuple(blocks), MOST_PRODUCTS)}
        if not made:
            raise NoProductError("the blocks do not react.")
        canonical_of = {text: canonical_smiles(text, self.most_atoms) for text in sorted(made)}
        different = sorted({text for text in canonical_of.values() if text})
        if len(different) > 1:
            raise NoProductError(f"the blocks give {len(different)} products, {' and '.join(different[:2])}.")
        if not different:
            raise NoProductError(f"no molecule comes out: {smiles_problem(min(canonical_of), self.most_atoms)}")
        return different[0]
