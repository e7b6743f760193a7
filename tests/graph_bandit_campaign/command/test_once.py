"""Each file of a round is opened once, and each molecule that is looked at is parsed once in the campaign."""

import sys
from collections import Counter

import pytest
from support.molecules import some_molecules
from support.prepared import prepare_in_parts, suggest
from support.tables import write

from graph_bandit_campaign.pool import parsing

COUNT = 60
MOLECULES = some_molecules(COUNT)


@pytest.fixture
def tables(tmp_path):
    write(tmp_path / "pool.csv", [("id", "smiles"), *((f"m{k}", MOLECULES.smiles[k]) for k in range(COUNT))])
    rows = [(f"m{k}", MOLECULES.smiles[k], MOLECULES.targets[k], k % 7) for k in range(20)]
    write(tmp_path / "results.csv", [("id", "smiles", "logp", "two"), *rows])
    return tmp_path


@pytest.fixture
def opened(tables):
    """Count the files that a test opens; a hook of audits cannot be taken back, so it is put to sleep."""
    counts, awake = Counter(), [True]

    def hear(event, given):
        if awake and event == "open" and isinstance(given[0], str):
            counts[given[0].replace("\\", "/").rpartition("/")[2]] += 1

    sys.addaudithook(hear)
    yield counts
    awake.clear()


@pytest.mark.parametrize("options", [(), ("--require", "mw<300", "tpsa<90"), ("--minimize", "two")])
def test_pool_and_results_are_opened_once(options, tables, opened):
    suggest(tables / "pool.csv", tables / "results.csv", tables / "out.csv", *options)
    assert (opened["pool.csv"], opened["results.csv"]) == (1, 1)


def test_a_prepared_pool_reads_its_results_once(tables, opened):
    folder = prepare_in_parts(tables / "pool.csv", tables / "pool", 16)
    opened.clear()
    suggest(folder, tables / "results.csv", tables / "out.csv", "--require", "mw<300")
    assert opened["results.csv"] == 1


@pytest.mark.parametrize("is_prepared", [False, True])
def test_limits_failures_and_scaffolds_parse_a_molecule_once(is_prepared, tables):
    pool = prepare_in_parts(tables / "pool.csv", tables / "pool", 64) if is_prepared else tables / "pool.csv"
    rows = [(f"m{k}", "failed" if k % 2 else MOLECULES.targets[k]) for k in range(20)]
    write(tables / "results.csv", [("id", "logp"), *rows])
    parsing.molecule_of.cache_clear()
    more = ("--require", "mw<400", "--forbid", "brenk", "--at-most", "1", "--per", "scaffold")
    suggest(pool, tables / "results.csv", tables / "out.csv", *more, "--predictions", str(tables / "all.csv"))
    info = parsing.molecule_of.cache_info()
    assert info.misses <= COUNT
    assert info.hits > info.misses
