"""Group molecules by their rings and what joins them."""

from __future__ import annotations

from collections.abc import Sequence

from graph_bandit_campaign.pool.parsing import molecule_of


def murcko_scaffolds(smiles: Sequence[str]) -> list[str]:
    """Return the scaffold of each molecule as SMILES: its rings and what joins them      [Bemis & Murcko 1996].

    Atoms that a double bond joins to the scaffold belong to it. Stereoisomers have the same scaffold. A molecule
    without rings has none: an empty text.

    Args:
        smiles: K SMILES.
    """
    from rdkit import Chem
    from rdkit.Chem.Scaffolds import MurckoScaffold

    molecules = map(molecule_of, smiles)
    return [
        Chem.MolToSmiles(MurckoScaffold.GetScaffoldForMol(molecule), isomericSmiles=False)  # type: ignore[no-untyped-call]
        for molecule in molecules
    ]
