"""Play campaigns on pools of which many compounds are there in four forms: as a base or acid, and as three salts."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from rdkit import Chem

from benchmarks.kept_rows import Row
from benchmarks.kept_tasks import do_missing
from benchmarks.pools.data.catalogue import find_pools
from benchmarks.pools.data.sources import read_molecules
from graph_bandit_campaign import Campaign, Limits
from graph_bandit_env import MoleculeSet, from_smiles
from graph_bandit_env.pools import Forms

KEY = ("pool", "start", "forms", "most", "salts_added")
SCORES = ("different", "spread", "lost", "best")
COLUMNS = (*KEY, "compounds", "salts", *SCORES)
BASE = "[NX3;!$(N-[C,S,P]=[O,S,N]);!$(N-[a]);!$(N-[!#6;!#1]);!$(N-C=C)]"
ACID = "C(=O)[OX2H]"
OF_BASES = ("Cl", "O=C(O)C(F)(F)F", "Cc1ccc(S(=O)(=O)O)cc1")
OF_ACIDS = ("[Na+]", "[K+]", "NC(CO)(CO)CO")
LEAST, BATCH, ROUNDS, TOP = 20, 8, 6, 10
LIMIT = 500  # g/mol, of which screening asks


def play_salts(
    folder: Path, pools: Sequence[str], starts: int, most: int, added: bool, workers: int, out: Path | None
) -> tuple[pd.DataFrame, int]:
    """Play each pool from some starts, with forms joined and apart; see `play`.

    Returns:
        A row for each play (`COLUMNS`), and how many failed.
    """
    tasks = [
        (pool.name, str(start), forms, str(most), str(added), folder)
        for pool in find_pools(pools)
        for start in range(starts)
        for forms in ("apart", "joined")
    ]
    return do_missing(play, tasks, COLUMNS, len(KEY), workers, out)


def play(name: str, start: str, forms: Forms, most: str, added: str, folder: Path) -> list[Row]:
    """Play six batches of eight after twenty results of bases and acids.

    Args:
        name: name of the pool.
        start: seed of the twenty.
        forms: whether forms of a compound are joined or apart.
        most: how many compounds are drawn from the pool, the same for every start.
        added: "True" if bases and acids get three salts; else the pool is as it is.
        folder: folder of the tables.

    Returns:
        One row: how many compounds there are, and how many with salts; how many compounds a batch holds, on average;
        the mean range of the predictions of the forms of a compound after the start, in standard deviations of the
        values; how many compounds below 500 g/mol a limit on the mass leaves out in one form or more; and how many of
        the ten best compounds are measured in the end.
    """
    (source,) = find_pools([name])
    molecules, key = read_molecules(source, folder), zlib.crc32(name.encode())
    molecules = molecules.take(np.random.default_rng(key).permutation(len(molecules))[: int(most)])
    each = [forms_of(text) if added == "True" else [text] for text in molecules.smiles]
    owners = [k for k, texts in enumerate(each) for _ in texts]
    pool = from_smiles([text for texts in each for text in texts], ids=[*map(str, range(len(owners)))], forms=forms)
    first, values = np.searchsorted(owners, range(len(each))), molecules.targets
    campaign = Campaign(pool, maximize=True, seed=int(start))
    seed = np.random.SeedSequence(int(start), spawn_key=(key,))
    begin = np.random.default_rng(seed).permutation(len(each))[:LEAST]
    campaign.tell_many({str(first[k]): float(values[k]) for k in begin})
    predicted = {suggestion.id: suggestion.mean or 0.0 for suggestion in campaign.predict().values()}
    of_row = [predicted[pool.aliases.get(name, name)] for name in map(str, range(len(owners)))]
    ranges = [np.ptp(of_row[first[k] :][: len(texts)]) for k, texts in enumerate(each) if len(texts) > 1]
    different, told = list[int](), set(begin.tolist())
    for _ in range(ROUNDS):
        chosen = [owners[int(suggestion.id)] for suggestion in campaign.ask(BATCH)]
        different.append(len(set(chosen)))
        told |= set(chosen)
        campaign.tell_many({name: float(values[owners[int(name)]]) for name in campaign.state.pending})
    best = set(np.argsort(-values, kind="stable")[:TOP].tolist())
    scores = (np.mean(different), np.mean(ranges or [0.0]) / np.std(values), count_lost(pool, each), len(best & told))
    salts = sum(len(texts) > 1 for texts in each)
    return [(name, start, forms, most, added, float(len(each)), float(salts), *map(float, scores))]


def forms_of(smiles: str) -> list[str]:
    """Return a compound as it is and, if it is a base or an acid, as three salts."""
    molecule = Chem.MolFromSmiles(smiles)
    for pattern, others in ((BASE, OF_BASES), (ACID, OF_ACIDS)):
        if molecule.HasSubstructMatch(Chem.MolFromSmarts(pattern)):
            return [smiles, *(f"{smiles}.{other}" for other in others)]
    return [smiles]


def count_lost(pool: MoleculeSet, each: Sequence[Sequence[str]]) -> int:
    """Count compounds below `LIMIT` of which a limit on the mass leaves out a row.

    Args:
        pool: rows of compounds, named by their numbers.
        each: the forms of each compound, its own one first.
    """
    limit = Limits([f"mw<{LIMIT}"])
    is_light = limit.mask(from_smiles([texts[0] for texts in each], ids=[*map(str, range(len(each)))], forms="apart"))
    left, row, lost = {name for name, meets in zip(pool.ids, limit.mask(pool), strict=True) if meets}, 0, 0
    for texts, light in zip(each, is_light.tolist(), strict=True):
        names = [str(row + j) for j in range(len(texts))]
        lost += light and not all(pool.aliases.get(name, name) in left for name in names)
        row += len(texts)
    return lost
