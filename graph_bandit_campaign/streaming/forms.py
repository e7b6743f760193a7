"""Find molecules of a prepared pool that are other forms of measured ones: salts, charged forms, tautomers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import numpy as np

from graph_bandit_campaign.prepared import Place, PreparedPool
from graph_bandit_campaign.tables.parents import skeleton, tautomers

NEUTRAL = ("[N+](=O)[O-]", "O=[N+]([O-])")  # nitro groups have charges, but are not salts
ATOM = re.compile(r"\[\d*([A-Z][a-z]?|[a-z]{1,2})[^\]]*\]|(Cl|Br|[BCNOPSFIbcnops])")
OTHER_FORM = r"[.+/\\]|-\]|-\d\]"  # fragments, charges, and double bonds that tautomers may lack


def find_forms(pool: PreparedPool, smiles: Collection[str]) -> set[Place]:
    """Return part and row of the molecules that may be forms of others; `Parents` tells which of them are.

    They are molecules of the pool that are tautomers of the standardised parent, by their canonical SMILES; and those
    with charges, several fragments or stereo double bonds that have the elements and bonds of the others. The latter is
    a pass over the pool, which takes 0.2 ms for each such molecule with as many atoms of each element.

    Args:
        pool: the pool.
        smiles: canonical SMILES of molecules that the pool does not have.

    Raises:
        ValueError: if a part is damaged.
    """
    if not smiles:
        return set()
    _, neutral = pool.find((), sorted({each for text in smiles for each in tautomers(text)}))
    wanted, formulas = set(map(skeleton, smiles)), {each for text in smiles for each in _formulas(text)}
    alike = (
        place
        for place, text in _other_forms(pool)
        if not formulas.isdisjoint(_formulas(text)) and skeleton(text) in wanted
    )
    return {*neutral.values(), *alike}


def _formulas(smiles: str) -> set[tuple[str, ...]]:
    """Return the elements of the atoms of each fragment; forms of a molecule have one in common, their parent's."""
    each = (ATOM.findall(fragment) for fragment in smiles.split("."))
    return {tuple(sorted((a or b).capitalize() for a, b in atoms)) for atoms in each}


def _other_forms(pool: PreparedPool) -> Iterator[tuple[Place, str]]:
    """Yield place and SMILES of each molecule that may be another form by its SMILES."""
    import pyarrow.compute as pc

    for part in pool.parts:
        texts, rows = part.read(["smiles"])["smiles"], part.kept_rows
        bare = texts
        for group in NEUTRAL:
            bare = pc.replace_substring(bare, group, "")
        found = np.flatnonzero(pc.match_substring_regex(bare, OTHER_FORM).to_numpy())
        for k in found.tolist():
            yield (part.number, int(rows[k])), texts[k].as_py()
