"""Likely failures come back, where there is nothing else, as they do in memory."""

import random

import numpy as np
import pytest
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_campaign.model.choice import check_batch, spare_likely
from graph_bandit_campaign.model.scan.spares import SOUND, Spare, Spares, come_back
from graph_bandit_campaign.pool.prepared import PrepareSettings, prepare
from graph_bandit_cli.main import main

COUNT = 160
MOLECULES = some_molecules(COUNT)
NAMES = [f"m{k}" for k in range(COUNT)]
FAILS = ["=O" in text for text in MOLECULES.smiles]


def spare_few(count, likely, probability, constraints):
    """Let likely failures come back one by one, the least likely first, until a batch can be made of what there is."""
    spared, others = ~likely, np.flatnonzero(likely)
    for k in [None, *others[np.argsort(probability[others], kind="stable")]]:
        if k is not None:
            spared[k] = True
        try:
            check_batch(count, spared, constraints)
        except ValueError:
            continue
        break
    return spared


@pytest.mark.parametrize("seed", range(20))
def test_the_same_ones_come_back_as_in_memory_whatever_the_portions(seed):
    chance = random.Random(seed)
    size, count = chance.randint(6, 40), chance.randint(1, 5)
    probability = np.round([chance.uniform(0.3, 1) for _ in range(size)], 1)
    likely, prices = probability > chance.choice([0.3, 0.6, 0.8]), np.round([chance.uniform(1, 3) for _ in range(size)])
    groups = [chance.choice(["", "a", "b", *"cdefgh"[: chance.randint(0, 6)]]) for _ in range(size)]
    budget, at_most = chance.choice([1.0, 2.0, 9.0]), chance.choice([1, 2])
    constraints = BatchConstraints(prices=prices, budget=budget, groups=groups, at_most=at_most)
    every = np.full(size, True)
    expected = spare_few(count, likely, probability, constraints)
    assert spare_likely(count, every, likely, probability, constraints).tolist() == expected.tolist()
    whole, places = Spares(count, at_most), np.stack([np.arange(size) // 7, np.arange(size) % 7], axis=1)
    portions = [Spares(count, at_most) for _ in range(3)]
    for k in range(size):
        key = float(probability[k]) if likely[k] else SOUND
        chance.choice(portions).add([Spare(key, *places[k].tolist(), groups[k], bool(prices[k] <= budget))])
    for each in portions:
        whole.merge(each)
    assert len(whole._kept) <= 2 * count + 1
    assert (every & (~likely | come_back(probability, places, whole.last))).tolist() == expected.tolist()


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A pool in parts, and results; few of those on sale do not fail."""
    folder, chance = tmp_path_factory.mktemp("tables"), random.Random(2)
    tried = [k for k in range(COUNT) if FAILS[k]][::4] + [k for k in range(COUNT) if not FAILS[k]][::3]
    sound = [k for k in range(COUNT) if not FAILS[k] and k not in tried][:3]
    rows = [
        (name, text, "yes" if FAILS[k] or k in sound else "no", chance.choice("ABC"), chance.randint(1, 9))
        for k, (name, text) in enumerate(zip(NAMES, MOLECULES.smiles, strict=True))
    ]
    write(folder / "pool.csv", [("id", "smiles", "sale", "vendor", "price"), *rows])
    values = [(NAMES[k], "failed" if FAILS[k] else round(float(MOLECULES.targets[k]), 3)) for k in tried]
    write(folder / "results.csv", [("id", "logp"), *values])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PrepareSettings, "block", 16)
        prepare(PrepareSettings(folder / "pool.csv", folder / "pool", part_rows=32, workers=None))
    return folder


OPTIONS = {
    "none sound": ("--only", "sale=yes", "--require", "fraction_sp3<0.4"),
    "scaffolds": ("--only", "sale=yes", "--per", "scaffold", "--at-most", "1"),
}


@pytest.mark.parametrize("options", [OPTIONS["none sound"], pytest.param(OPTIONS["scaffolds"], marks=pytest.mark.slow)])
def test_the_least_likely_failures_come_back(options, tables, tmp_path):
    chosen = []
    for pool in ("pool.csv", "pool"):
        out = tmp_path / f"{pool}.of.csv"
        command = ["suggest", str(tables / pool), "--measured", str(tables / "results.csv"), "--maximize", "logp"]
        command += ["--n", "9", "--agent", "molecule-ucb:short_list=10", "--out", str(out)]
        command += ["--workers", "None"] if pool == "pool" else []
        assert main([*command, *options]) == 0
        chosen.append([(row["id"], float(row["probability_of_failing"]) > 0.5) for row in read(out)])
    assert chosen[1] == chosen[0]
    assert any(fails for _, fails in chosen[0])
