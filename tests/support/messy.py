"""Messy tables of molecules: equal ones, names of several, names that differ, bad rows, and numbers with gaps."""

import csv
import io
import random

import numpy as np

from agents.molecule import Moments, compute_descriptors
from graph_bandit_campaign.pool.prepared.making.run import prepare
from graph_bandit_campaign.pool.prepared.settings import PrepareSettings
from graph_bandit_env import from_smiles_csv
from support.molecules import ODD_MOLECULES

SMILES = (*ODD_MOLECULES, *(f"{'C' * n}{end}" for n in range(1, 12) for end in ("", "O", "N", "Cl", "C#N", "c1ccccc1")))
SYNONYMS = {"CCO": "OCC", "CCCO": "OCCC", "CCCCN": "NCCCC", "CCN": "C(C)N"}
BAD = ("", "C1CC", "nonsense", "CC O", "C" * 300, "=C")
DESCRIPTORS = ("ecfp", "properties")


def messy_table(rows=100, seed=0, ids=True):
    """Return the text of a table."""
    chance = random.Random(seed)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["smiles", *["id"] * ids, "score", "vendor, name", "log.P", "log"])
    for k in range(rows):
        smiles = chance.choice(SMILES)
        smiles = chance.choice([smiles, SYNONYMS.get(smiles, smiles)])
        smiles = chance.choice(BAD) if chance.random() < 0.08 else smiles
        names = [f"m{k}", f"n{k}", f"some{chance.randrange(rows)}", "", smiles, chance.choice(SMILES)]
        (name,) = chance.choices(names, [3, 2, 3, 2, 2, 0.3])
        numbers = [chance.choice(["", "n/a", f"{chance.gauss(0, 1):.3f}", "7"]) for _ in range(3)]
        cells = [smiles, *[name] * ids, numbers[0], chance.choice(["Aldrich", "a, b", "=1+1", ""]), *numbers[1:]]
        writer.writerow(cells + ["surplus"] * (chance.random() < 0.03))
        if chance.random() < 0.03:
            text.write("\n")
    return text.getvalue()


def prepare_small(table, out, part_rows=16, workers=None, **changes):
    """Prepare a table in blocks of eight rows (`PrepareSettings.block` is set to it by the fixture `small_blocks`)."""
    given = {"descriptors": DESCRIPTORS, "ignore_column": ("score", "log.P", "log"), **changes}
    return prepare(PrepareSettings(pool=table, out=out, part_rows=part_rows, workers=workers, **given))


def assert_as_in_memory(pool, path, columns=("score", "log.P", "log")):
    """Assert that a prepared pool has all that `from_smiles_csv` reads from a table."""
    question = pool.manifest.question
    identifier = None if question.is_guessed else question.identifier
    expected = from_smiles_csv(path, on_error="skip", columns=columns, identifier=identifier)
    loaded = pool.load(columns)
    assert len(pool) == len(expected)
    assert loaded.smiles == expected.smiles
    assert loaded.ids == expected.ids
    assert loaded.merged == expected.merged
    assert dict(loaded.aliases) == dict(expected.aliases)
    assert loaded.skipped == expected.skipped
    assert loaded.column_names == expected.column_names
    np.testing.assert_array_equal(loaded.columns, expected.columns)
    descriptors = compute_descriptors(expected.smiles, DESCRIPTORS)
    read = [block.descriptors for block in pool]
    stacked = read[0].stack(read).arrays()
    for name, array in descriptors.arrays().items():
        np.testing.assert_array_equal(stacked[name], array)
    for name, array in loaded.descriptors.arrays().items():
        np.testing.assert_array_equal(array, stacked[name])
    assert not loaded.aliases or pool.find(list(loaded.aliases))[0].keys() == loaded.aliases.keys()
    scale, whole = pool.moments["properties"].scale(), Moments.of(descriptors.numbers["properties"]).scale()
    np.testing.assert_array_equal(scale.mean, whole.mean)
    np.testing.assert_array_equal(scale.spread, whole.spread)
    return expected
