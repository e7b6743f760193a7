"""Count how many molecules that fail are suggested, with and without learning from failures."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.pools.catalogue import find_pools
from benchmarks.pools.screening import share_of_top
from benchmarks.pools.study import Cells, Study, Table, interval, over_pools, read_molecules
from graph_bandit_campaign import Campaign
from graph_bandit_env import MoleculeSet

START, BATCH, ROUNDS, TOP = 30, 20, 5, 0.05
LEAST, MOST = 0.15, 0.25  # share of a pool that fails by a substructure
MOST_CAUSES = 3  # substructures a pool
RANDOM, LIPOPHILIC = "random", "large logP"
SUBSTRUCTURES = {
    "sulfonyl": "S(=O)=O",
    "aliphatic amine": "[NX3;!$(N-[C,S,P]=[O,S,N]);!$(N-a);!$(N-C=*)]([CX4,#1])[CX4]",
    "halogen": "[F,Cl,Br,I]",
    "nitro": "[N+](=O)[O-]",
    "methoxy": "[CH3][OX2]c",
    "alcohol": "[OX2H][CX4]",
    "ester": "[CX3](=O)[OX2][#6]",
    "pyridine": "n1ccccc1",
    "chlorine": "[Cl]",
    "benzyl on N or O": "[CH2;R0](c)[#7,#8]",
    "para-disubstituted": "[!#1]-!@c1ccc(-!@[!#1])cc1",
    "imidazole or pyrazole": "[nr5]1[c,n]c[c,n][c,n]1",
    "fluorine": "[F]",
    "piperidine": "N1CCCCC1",
    "aniline": "[NX3;H2,H1;!$(N-[C,S,P]=[O,S,N])]c",
}
HEADER = (
    "cause", "plays", "% of the pool that fails", "% that failed, ignored", "% that failed, learnt",
    "learnt / ignored [95 % interval]", "% of the top 5 %, ignored", "less ignored, learnt [95 % interval]",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FailingStudy(Study):
    """Count how many molecules that fail are suggested, with and without learning from failures.

    Molecules fail by a hidden substructure that 15 to 25 % of the pool have (up to three for each pool), by their logP,
    or at random. 30 molecules are tried at random, then five batches of 20.
    """

    pools: tuple[str, ...] = ("chembl",)
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches), or docking-D for draw D."""
    seeds: int = 1
    """Plays of each cause of each pool, from different random starts."""
    by_cause: bool = False
    """Print a row for each cause of each pool, too."""

    key = ("pool", "cause", "seed")
    scores = ("learns", "share", "suggested", "failed", "top")

    def tasks(self) -> Iterator[tuple[str, str, int]]:
        """Yield every cause of every pool."""
        for name in (pool.name for pool in find_pools(self.pools)):
            causes = find_causes(name, read_molecules(name, self.data))
            yield from ((name, cause, seed) for seed in range(self.seeds) for cause in causes)

    def play(self, name: str, cause: str, seed: int) -> Iterator[tuple[float, ...]]:
        """Play a cause of a pool, without and with learning, from the same random start."""
        molecules = read_molecules(name, self.data)
        fails = find_causes(name, molecules)[cause]
        values = np.where(fails, -np.inf, molecules.targets)
        top = max(1, round(TOP * int((~fails).sum())))
        for learns in (False, True):
            order = play(molecules, fails, learns, seed)
            failed, measured = fails[order[START:]], order[~fails[order]]
            share = 100 * share_of_top(values, measured, top)
            yield learns, float(fails.mean()), len(failed), int(failed.sum()), share

    def tables(self, rows: pd.DataFrame) -> Iterator[Table]:
        """Yield a table by kind of cause, and on request one with a row for each cause of each pool."""
        kinds = rows["cause"].where(rows["cause"].isin([RANDOM, LIPOPHILIC]), "a substructure")
        cells = [_row(str(kind), part) for kind, part in rows.groupby(kinds, sort=False)]
        yield Table(f"Failures among the molecules suggested, {over_pools(rows)}", [HEADER, *cells])
        if self.by_cause:
            causes = rows.groupby(["pool", "cause"], sort=False)
            yield Table("By cause", [HEADER, *(_row(f"{pool}: {cause}", part) for (pool, cause), part in causes)])


def find_causes(pool: str, molecules: MoleculeSet) -> dict[str, NDArray[np.bool_]]:
    """Return who fails by each cause: up to three substructures that 15 to 25 % have, large logP, and chance.

    Args:
        pool: name of the pool, by which chance draws 20 %.
        molecules: K molecules.
    """
    from rdkit import Chem
    from rdkit.Chem import Crippen

    crippen: Any = Crippen  # RDKit's stubs lack `MolLogP`
    graphs: list[Any] = [Chem.MolFromSmiles(text) for text in molecules.smiles]
    causes: dict[str, NDArray[np.bool_]] = {}
    for name, smarts in SUBSTRUCTURES.items():
        pattern = Chem.MolFromSmarts(smarts)
        fails = np.array([graph.HasSubstructMatch(pattern) for graph in graphs])
        if LEAST <= fails.mean() <= MOST and len(causes) < MOST_CAUSES:
            causes[name] = fails
    logp = np.array([crippen.MolLogP(graph) for graph in graphs])
    draws = np.random.default_rng(zlib.crc32(pool.encode())).random(len(graphs))
    return causes | {LIPOPHILIC: logp > np.quantile(logp, 0.8), RANDOM: draws < 0.2}


def play(molecules: MoleculeSet, fails: NDArray[np.bool_], learns: bool, seed: int) -> NDArray[np.int64]:
    """Return the molecules in the order in which they were tried: 30 at random, then five batches of 20.

    Args:
        molecules: K molecules with values.
        fails: `(K,)`. Which of them fail.
        learns: whether failures teach.
        seed: seed of the start and of the campaign.
    """
    campaign = Campaign(molecules, seed=seed, ignore_failures=not learns)
    order = np.random.default_rng(seed).choice(len(molecules), START, replace=False).tolist()
    index_of = {identifier: k for k, identifier in enumerate(molecules.ids)}
    tried: list[int] = []
    for number in range(ROUNDS + 1):
        for k in order:
            if fails[k]:
                campaign.tell_failed(molecules.ids[k])
            else:
                campaign.tell(molecules.ids[k], float(molecules.targets[k]))
        tried += order
        order = [index_of[suggestion.id] for suggestion in campaign.ask(BATCH)] if number < ROUNDS else []
    return np.array(tried, np.int64)


def _row(name: str, part: pd.DataFrame) -> Cells:
    """Return a row of sums over plays, with intervals over pools if there are several."""
    ignored, learnt = (part[part["learns"] == learns].set_index(["pool", "cause", "seed"]) for learns in (0, 1))
    sums = pd.DataFrame({"ignored": ignored["failed"], "learnt": learnt["failed"], "all": ignored["suggested"]})
    gain = (learnt["top"] - ignored["top"]).groupby("pool").mean()
    by_pool = sums.groupby("pool").sum().to_numpy()
    ratio, change = f"{_ratio(by_pool):.2f}", f"{gain.mean():+.1f}"
    if len(by_pool) > 1:
        draws = np.random.default_rng(0).integers(len(by_pool), size=(2000, len(by_pool)))
        low, high = np.quantile([_ratio(by_pool[draw]) for draw in draws], [0.025, 0.975])
        ratio, change = f"{ratio} [{low:.2f}, {high:.2f}]", interval(gain, "+.1f")
    failed = [f"{100 * sums[column].sum() / sums['all'].sum():.1f}" for column in ("ignored", "learnt")]
    share, top = f"{100 * ignored['share'].mean():.0f}", f"{ignored['top'].groupby('pool').mean().mean():.1f}"
    return name, str(len(sums)), share, *failed, ratio, top, change


def _ratio(sums: NDArray[np.float64]) -> float:
    """Return failures learnt over failures ignored, from rows of (ignored, learnt, all)."""
    ignored, learnt, _ = sums.sum(axis=0)
    return float(learnt / max(1, ignored))
