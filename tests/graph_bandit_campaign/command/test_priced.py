"""`suggest` with prices, a budget and caps, from the command line to files, page and later rounds."""

import json
from contextlib import suppress

import pytest
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_cli.main import main

MOLECULES = some_molecules(24)
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
PRICES = {name: "" if k == 20 else 10 + 7 * k % 90 for k, name in enumerate(NAMES)}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_pool(PRICES)
    values = zip(NAMES[:6], MOLECULES.targets.tolist(), strict=False)
    write("results.csv", [("id", "logp"), *values])
    return tmp_path


def write_pool(prices):
    columns = zip(NAMES, MOLECULES.smiles, prices.values(), strict=True)
    write("pool.csv", [("id", "smiles", "price", "vendor"), *((*row, "AB"[k % 2]) for k, row in enumerate(columns))])


def suggested():
    return read("out.csv")


def suggest(*more, n=4):
    command = ["suggest", "pool.csv", "--measured", "results.csv", "--n", str(n), "--maximize", "logp"]
    return main([*command, "--out", "out.csv", "--agent", "molecule-ucb:short_list=10", *more])


def rounds():
    with open("out.campaign.json") as file:
        return len(json.load(file)["rounds"])


def test_a_budget_is_kept_and_told(folder, capsys):
    assert suggest("--price", "price", "--budget", "100", "--html", "page.html", n=12) == 0
    rows, told = suggested(), capsys.readouterr().out
    total = sum(PRICES[row["id"]] for row in rows)
    assert total <= 100
    assert all(float(row["price"]) == PRICES[row["id"]] for row in rows)
    assert "price (a column, not known for 1) leaves 23." in told
    assert f"The {len(rows)} suggestions cost {total} in all, of a budget of 100" in told
    assert f"cost {total} in all" in (folder / "page.html").read_text()


def test_cheaper_molecules_are_suggested_where_prices_count(folder):
    assert suggest() == 0
    free = sum(PRICES[row["id"]] or 0 for row in suggested())
    assert suggest("--price", "price") == 0
    assert sum(PRICES[row["id"]] for row in suggested()) < free


def test_one_price_changes_only_how_many_there_are(folder):
    assert suggest() == 0
    free = [row["id"] for row in suggested()]
    assert suggest("--undo") == 0
    assert suggest("--again", "--price", "30", "--budget", "65") == 0
    assert [row["id"] for row in suggested()] == free[:2]


def test_prices_that_count_for_the_budget_alone_change_nothing_while_it_lasts(folder, capsys):
    assert suggest() == 0
    free = [row["id"] for row in suggested()]
    cost = sum(PRICES[name] for name in free)
    assert suggest("--undo", "--price", "price", "--budget", "10000", "--budget-only") == 0
    assert [row["id"] for row in suggested()] == free
    assert "worth its price" not in capsys.readouterr().out
    assert suggest("--undo", "--price", "price", "--budget", str(cost - 1), "--budget-only") == 0
    ours = [row["id"] for row in suggested()]
    assert ours[:3] == free[:3]
    assert ours != free
    assert sum(PRICES[name] for name in ours) < cost
    assert suggest("--price", "price", "--budget", str(cost - 1)) == 0
    assert rounds() == 2  # weighing prices is another question


def test_a_batch_ends_with_the_budget_or_with_n(folder, capsys):
    assert suggest("--price", "30", "--budget", "1000") == 0
    assert "The 4 suggestions cost 120 in all, of a budget of 1000: 880 is left." in capsys.readouterr().out
    assert suggest("--undo", "--price", "30", "--budget", "70") == 0
    assert "so there are fewer than the 4 asked for" in capsys.readouterr().out


def test_caps_are_kept_by_columns_and_by_scaffolds(folder):
    assert suggest("--at-most", "1", "--per", "vendor", n=2) == 0
    assert sorted(row["group"] for row in suggested()) == ["A", "B"]
    assert suggest("--at-most", "1", "--per", "scaffold", n=5) == 0
    groups = [row["group"] for row in suggested() if row["group"]]
    assert len(set(groups)) == len(groups)


def test_molecules_without_a_group_are_not_capped(folder):
    write("pool.csv", [("id", "smiles", "vendor"), *((*row, "") for row in zip(NAMES, MOLECULES.smiles, strict=True))])
    assert suggest("--at-most", "1", "--per", "vendor", "--html", "page.html") == 0
    assert [row["group"] for row in suggested()] == [""] * 4
    assert (folder / "page.html").read_text().count(">vendor none<") == 4


def test_other_prices_are_another_question(folder):
    for number, prices, budget in ((1, PRICES, "100"), (1, PRICES, "100"), (2, PRICES, "90"), (3, None, "90")):
        write_pool(prices or {**PRICES, "m9": 11})
        assert suggest("--price", "price", "--budget", budget) == 0
        assert rounds() == number


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--price", "prize"), "Expected `--price prize` to name a column of pool.csv"),
        (("--at-most", "1", "--per", "vendor"), "The molecules that are left allow 2. Ask for 2"),
        (("--price", "price", "--budget", "5"), "Expected a budget that pays for a molecule"),
        (("--budget", "5"), "`--budget` to be positive and finite, with `--price`"),
        (("--price", "-3"), "--price"),
        (("--price", "price", "--budget-only"), "`--budget-only` with `--budget`"),
        (("--at-most", "2"), "`--at-most` and `--per` together"),
        (("--price", "logp"), "another column than the target"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(folder, capsys, options, message):
    with suppress(SystemExit):  # of settings
        assert suggest(*options) == 1
    told = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert message in told
    assert not (folder / "out.campaign.json").exists()


def test_a_price_of_zero_is_a_bad_row(folder, capsys):
    write_pool({**PRICES, "m3": 0})
    assert suggest("--price", "price") == 1
    assert "line 5: expected a price above 0 in `price`. Got 0." in capsys.readouterr().err
    assert suggest("--price", "price", "--skip-bad-rows") == 0
    assert "not known for 2" in capsys.readouterr().out
