"""With a budget a batch may be smaller because money ends, and for no other reason, whatever the pool."""

import pytest
from support.molecules import some_molecules
from support.prepared import prepare_in_parts
from support.tables import write

from graph_bandit_cli.main import main

COUNT = 60
MOLECULES = some_molecules(COUNT)


@pytest.fixture(scope="module")
def pools(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    rows = [(f"m{k}", text, 90 if k % 3 == 0 else 2, "AB"[k % 2]) for k, text in enumerate(MOLECULES.smiles)]
    table = write(folder / "pool.csv", [("id", "smiles", "price", "vendor"), *rows])
    values = [(f"m{k}", MOLECULES.targets[k]) for k in range(12)]
    write(folder / "results.csv", [("id", "logp"), *values])
    return table, prepare_in_parts(table, folder / "prepared", 16)


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (("--budget", "5"), 2),  # money ends
        (("--budget", "50", "--at-most", "1", "--per", "vendor"), 0),  # groups end
        (("--budget", "50", "--at-most", "1", "--per", "vendor", "--n", "2"), 2),
        (("--budget", "3", "--at-most", "1", "--per", "vendor", "--n", "2"), 1),
        (("--budget", "50", "--only", "vendor=A", "--at-most", "1", "--per", "scaffold", "--require", "mw<80"), 0),
    ],
)
def test_a_batch_is_smaller_only_where_money_ends(options, count, pools, tmp_path):
    suggested = []
    for number, pool in enumerate(pools):
        out = tmp_path / f"{number}.csv"
        command = ["suggest", str(pool), "--measured", str(pools[0].with_name("results.csv")), "--maximize", "logp"]
        command += ["--price", "price", "--agent", "molecule-ucb:short_list=6", "--workers", "None", "--out", str(out)]
        command += [] if "--n" in options else ["--n", "4"]
        assert main([*command, *options]) == (0 if count else 1)
        suggested.append(out.read_text() if count else "")
    assert suggested[0] == suggested[1]
    assert len(suggested[0].splitlines()) == count + bool(count)
