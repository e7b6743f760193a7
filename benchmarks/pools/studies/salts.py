"""Play campaigns on pools of which many compounds are there in four forms: as a base or acid, and as three salts."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from rdkit import Chem

from benchmarks.pools.catalogue import find_pools
from benchmarks.pools.study import Cells, Study, Table, read_molecules
from graph_bandit_campaign import Campaign, Limits
from graph_bandit_env import MoleculeSet, from_smiles
from graph_bandit_env.pools import Forms

MOST = 400  # compounds of a pool
LEAST, BATCH, ROUNDS, TOP = 20, 8, 6, 10
LIMIT = 500  # g/mol, of which screening asks
BASE = "[NX3;!$(N-[C,S,P]=[O,S,N]);!$(N-[a]);!$(N-[!#6;!#1]);!$(N-C=C)]"
ACID = "C(=O)[OX2H]"
OF_BASES = ("Cl", "O=C(O)C(F)(F)F", "Cc1ccc(S(=O)(=O)O)cc1")
OF_ACIDS = ("[Na+]", "[K+]", "NC(CO)(CO)CO")


@dataclass(frozen=True, kw_only=True)
class SaltsStudy(Study):
    """Play campaigns on pools of which bases and acids are there as three salts, too: forms joined, or apart."""

    pools: tuple[str, ...] = ("CHEMBL2034_Ki", "CHEMBL218_EC50", "HLM")
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches)."""
    starts: int = 5
    """Random starts of each pool."""
    added: bool = True
    """Add three salts of each base and acid; else pools are as they are, and it shows what charges change."""

    key = ("pool", "start", "forms", "salts_added")
    scores = ("compounds", "salts", "different", "spread", "lost", "best")

    def tasks(self) -> Iterator[tuple[str, int, Forms, bool]]:
        """Yield each pool and start, with forms joined and apart."""
        for pool in find_pools(self.pools):
            for start in range(self.starts):
                yield pool.name, start, "apart", self.added
                yield pool.name, start, "joined", self.added

    def play(self, name: str, start: int, forms: Forms, added: bool) -> Iterator[tuple[float, ...]]:
        """Play six batches of eight after twenty results of bases and acids.

        One row: how many compounds there are, and how many with salts; how many compounds a batch holds, on average;
        the mean range of the predictions of the forms of a compound after the start, in standard deviations of the
        values; how many compounds below 500 g/mol a limit on the mass leaves out in one form or more; and how many of
        the ten best compounds are measured in the end.
        """
        molecules, key = read_molecules(name, self.data), zlib.crc32(name.encode())
        molecules = molecules.take(np.random.default_rng(key).permutation(len(molecules))[:MOST])
        compounds = [forms_of(text) if added else [text] for text in molecules.smiles]
        owners = [k for k, texts in enumerate(compounds) for _ in texts]
        pool = from_smiles(
            [text for texts in compounds for text in texts], ids=[*map(str, range(len(owners)))], forms=forms
        )
        first, values = np.searchsorted(owners, range(len(compounds))), molecules.targets
        campaign = Campaign(pool, maximize=True, seed=start)
        seed = np.random.SeedSequence(start, spawn_key=(key,))
        begin = np.random.default_rng(seed).permutation(len(compounds))[:LEAST]
        campaign.tell_many({str(first[k]): float(values[k]) for k in begin})
        predicted = {suggestion.id: suggestion.mean or 0.0 for suggestion in campaign.predict().values()}
        of_row = [predicted[pool.aliases.get(name, name)] for name in map(str, range(len(owners)))]
        ranges = [np.ptp(of_row[first[k] :][: len(texts)]) for k, texts in enumerate(compounds) if len(texts) > 1]
        different, measured = list[int](), set(begin.tolist())
        for _ in range(ROUNDS):
            chosen = [owners[int(suggestion.id)] for suggestion in campaign.ask(BATCH)]
            different.append(len(set(chosen)))
            measured |= set(chosen)
            campaign.tell_many({name: float(values[owners[int(name)]]) for name in campaign.state.pending})
        best = len(measured & set(np.argsort(-values, kind="stable")[:TOP].tolist()))
        spread = float(np.mean(ranges or [0.0]) / np.std(values))
        salts = sum(len(texts) > 1 for texts in compounds)
        yield len(compounds), salts, float(np.mean(different)), spread, count_lost(pool, compounds), best

    def tables(self, rows: pd.DataFrame) -> Iterator[Table]:
        """Yield a row for each pool and each way to take forms, with means over the starts."""
        scores = (f"compounds in a batch of {BATCH}", "range of predictions (sd)", f"below {LIMIT} and left out")
        cells: list[Cells] = [("pool", "compounds", "with salts", "forms", *scores, f"of the best {TOP}")]
        for (pool, forms), part in rows.groupby(["pool", "forms"], sort=False):
            mean = part[[*self.scores]].mean()
            ends = (f"{mean['different']:.1f}", f"{mean['spread']:.2f}", f"{mean['lost']:.0f}", f"{mean['best']:.1f}")
            cells.append((str(pool), f"{mean['compounds']:.0f}", f"{mean['salts']:.0f}", str(forms), *ends))
        yield Table("Salts in the pool", cells)


def forms_of(smiles: str) -> list[str]:
    """Return a compound as it is and, if it is a base or an acid, as three salts."""
    molecule = Chem.MolFromSmiles(smiles)
    for pattern, others in ((BASE, OF_BASES), (ACID, OF_ACIDS)):
        if molecule.HasSubstructMatch(Chem.MolFromSmarts(pattern)):
            return [smiles, *(f"{smiles}.{other}" for other in others)]
    return [smiles]


def count_lost(pool: MoleculeSet, compounds: Sequence[Sequence[str]]) -> int:
    """Count compounds below `LIMIT` of which a limit on the mass leaves out a row.

    Args:
        pool: rows of compounds, named by their numbers.
        compounds: the forms of each compound, its own one first.
    """
    limit = Limits([f"mw<{LIMIT}"])
    is_light = limit.mask(
        from_smiles([texts[0] for texts in compounds], ids=[*map(str, range(len(compounds)))], forms="apart")
    )
    left, row, lost = {name for name, meets in zip(pool.ids, limit.mask(pool), strict=True) if meets}, 0, 0
    for texts, light in zip(compounds, is_light.tolist(), strict=True):
        names = [str(row + j) for j in range(len(texts))]
        lost += light and not all(pool.aliases.get(name, name) in left for name in names)
        row += len(texts)
    return lost
