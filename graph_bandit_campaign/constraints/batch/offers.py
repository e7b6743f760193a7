"""Find the price and the group of each molecule in the rows of a pool."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.constraints.batch.batch import Terms
from graph_bandit_campaign.constraints.limits.limits import LimitColumns, Selection, need_column
from graph_bandit_campaign.pool.block import molecule_of
from graph_bandit_campaign.text import find_column

SCAFFOLD = "scaffold"  # a group that is computed, unless the pool has a column of this name


def find_offer_columns(terms: Terms, columns: Sequence[str], source: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the columns of prices and of groups, by the names from the user. Unneeded columns are left out.

    Args:
        terms: options of the user.
        columns: all columns.
        source: name of their table, for messages.

    Raises:
        ValueError: if a column does not exist.
    """
    prices, groups = {}, {}
    if terms.price is not None and terms.one_price is None:
        prices[terms.price] = need_column(terms.price, columns, source, f"--price {terms.price}", " Or give a number.")
    if terms.group_by is not None and (terms.group_by != SCAFFOLD or find_column(SCAFFOLD, columns, source)):
        option, hint = f"--group-by {terms.group_by}", f" Or take {SCAFFOLD}."
        groups[terms.group_by] = need_column(terms.group_by, columns, source, option, hint)
    return prices, groups


def find_offers(terms: Terms, columns: LimitColumns, selection: Selection) -> tuple[NDArray[np.float64], Sequence[str]]:
    """Return price and group of each molecule, from its cheapest row that meets all limits on columns.

    Among equally cheap rows, the first counts. A price is NaN if it is unknown or not above 0, and 0 if prices do not
    count. Groups without a column are left empty.

    Args:
        terms: options of the user.
        columns: rows of the columns of prices and groups, by the names from the user.
        selection: the K molecules, and the rows, that meet the limits.
    """
    count = len(selection.mask)
    prices, groups = np.full(count, terms.one_price or 0.0), [""] * count
    given, named = np.array(columns.numbers.get(terms.price or "", ())), columns.texts.get(terms.group_by or "")
    given[given <= 0] = np.nan
    rows = np.flatnonzero(selection.rows)
    if len(given):
        rows = rows[np.argsort(given[rows], kind="stable")]  # NaN comes last
    molecules, firsts = np.unique(np.asarray(columns.owners, np.int64)[rows], return_index=True)
    if len(given):
        prices[:] = np.nan
        prices[molecules] = given[rows[firsts]]
    if named is not None:
        for molecule, row in zip(molecules.tolist(), rows[firsts].tolist(), strict=True):
            groups[molecule] = named[row]
    return prices, groups


def murcko_scaffolds(smiles: Sequence[str]) -> list[str]:
    """Return the scaffold of each molecule as SMILES: its rings and their linkers      [Bemis & Murcko 1996].

    Atoms with a double bond to the scaffold belong to it. Stereoisomers have the same scaffold. A molecule without
    rings gives an empty text.

    Args:
        smiles: K SMILES.
    """
    from rdkit import Chem
    from rdkit.Chem.Scaffolds.MurckoScaffold import GetScaffoldForMol

    scaffolds = map(GetScaffoldForMol, map(molecule_of, smiles))
    return [Chem.MolToSmiles(scaffold, isomericSmiles=False) for scaffold in scaffolds]
