"""Salts and charged molecules of a pool are described by their parent, and forms of one compound are one molecule."""

from pathlib import Path

import numpy as np
import pytest
from rdkit.Chem import MolFromSmiles
from rdkit.Chem.Descriptors import MolWt
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign import Campaign
from graph_bandit_cli.main import main
from graph_bandit_env import from_smiles
from graph_bandit_env.pools import parent_smiles

AGENT = "molecule-ucb:gradients=False"
COUNTER_IONS = ("Cl", "O=C(O)C(F)(F)F", "Cc1ccc(S(=O)(=O)O)cc1")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def suggest(*more, pool="pool.csv", out="out.csv"):
    command = ["suggest", pool, "--n", "6", "--maximize", "y", "--agent", "molecule-ucb", "--out", out]
    assert main([*command, "--measured", "results.csv", *more]) == 0


@pytest.fixture
def pool(folder):
    """Twenty compounds, each in four forms, and sodium chloride; five are measured, one of them as a salt."""
    bases = some_molecules().smiles[:20]
    rows = [
        (f"{k}-{number}", text)
        for k, base in enumerate(bases)
        for number, text in enumerate(
            [f"{base}.{ion}" for ion in COUNTER_IONS[:2]] + [base, f"{base}.{COUNTER_IONS[2]}"]
        )
    ]
    write(
        "pool.csv", [("id", "smiles", "batch"), *((*row, f"lot {row[0]}") for row in rows), ("nacl", "[Na+].[Cl-]", "")]
    )
    write("results.csv", [("id", "y"), *((f"{k}-{k % 4}", value) for k, value in enumerate([1.0, 4.0, 2.5, 3.0, 2.0]))])
    return dict(rows)


def test_a_batch_has_one_form_of_a_compound_and_says_which_others_there_are(pool, capsys):
    suggest("--html", "out.html")
    rows, printed = read(), capsys.readouterr().out
    compounds = [row["id"].split("-")[0] for row in rows]
    assert len(set(compounds)) == len(compounds) == 6
    assert not {"0", "1", "2", "3", "4"} & set(compounds)  # measured in one form or another
    for row in rows:
        base = parent_smiles(pool[row["id"]])
        assert row["smiles"] == pool[row["id"]] == f"{base}.Cl" or row["smiles"] == f"Cl.{base}"
        assert all(f"{row['id'][:-1]}{number}" in row["other_forms"] for number in (1, 2, 3))
    first = rows[0]
    for text in (printed, Path("out.html").read_text(encoding="utf-8")):
        assert "Other rows of a suggestion in the pool, joined with it" in text
        assert "described by their parent" in text.lower()
    assert first["batch"].count(" | ") == 3


def test_sodium_chloride_is_never_suggested(pool, capsys):
    suggest("--n", "15")
    assert "nacl" not in {row["id"] for row in read()}
    assert "an organic part leaves 20" in capsys.readouterr().out
    assert (
        main(["suggest", "pool.csv", "--n", "16", "--maximize", "y", "--out", "more.csv", "--measured", "results.csv"])
        == 1
    )


def test_forms_have_one_prediction_and_apart_they_have_several(pool):
    suggest("--predictions", "joined.csv")
    assert len(read("joined.csv")) == 21
    suggest("--forms", "apart", "--predictions", "apart.csv", out="apart_out.csv")
    values = {row["id"]: float(row["predicted_y"]) for row in read("apart.csv")}
    assert len(values) == 81
    assert np.ptp([values[f"9-{number}"] for number in range(4)]) > 0.01


def test_a_limit_is_on_the_parent(folder):
    base = "CCOc1ccccc1CN1CCN(C(=O)c2ccc(NC(=O)c3ccccc3)cc2)CC1"
    assert MolWt(MolFromSmiles(base)) < 500 < MolWt(MolFromSmiles(f"{base}.{COUNTER_IONS[1]}"))
    others = [(f"m{k}", text) for k, text in enumerate(some_molecules().smiles[:12])]
    write("pool.csv", [("id", "smiles"), ("tfa", f"{base}.{COUNTER_IONS[1]}"), *others])
    write("results.csv", [("id", "y"), ("m0", 1.0), ("m1", 2.0), ("m2", 3.0)])
    suggest("--require", "mw<500", "mw>400", "--n", "1")
    assert [row["id"] for row in read()] == ["tfa"]


def test_without_salts_nothing_changes(folder):
    write("pool.csv", [("id", "smiles"), *((f"m{k}", text) for k, text in enumerate(some_molecules().smiles))])
    write("results.csv", [("id", "y"), ("m0", 1.0), ("m1", 2.0), ("m2", 3.0)])
    suggest("--predictions", "joined.csv")
    suggest("--forms", "apart", "--predictions", "apart.csv", out="apart_out.csv")
    assert Path("out.csv").read_bytes() == Path("apart_out.csv").read_bytes()
    assert Path("joined.csv").read_bytes() == Path("apart.csv").read_bytes()


@pytest.mark.parametrize("named", [True, False])
def test_a_prepared_pool_suggests_what_the_table_does(pool, named):
    if not named:
        write("pool.csv", [("smiles",), *((text,) for text in pool.values()), ("[Na+].[Cl-]",)])
        rows = [(list(pool.values())[4 * k + k % 4], value) for k, value in enumerate([1.0, 4.0, 2.5, 3.0, 2.0])]
        write("results.csv", [("smiles", "y"), *rows])
    assert main(["prepare", "pool.csv", "--out", "prepared"]) == 0
    suggest()
    suggest(pool="prepared", out="streamed.csv")
    assert read("streamed.csv") == read()


def test_a_result_of_a_salt_is_one_of_its_compound_by_whatever_row_it_is_named(pool):
    rows = [("id", "smiles", "y"), ("0-0", "", 1.0), ("0-2", "", 3.0), ("1-0", "", 4.0), ("2-0", "", 1.5)]
    write("results.csv", [*rows, ("", f"{parent_smiles(pool['3-0'])}.I", 2.0)])
    suggest("--predictions", "all.csv")
    states = {row["id"]: row["state"] for row in read("all.csv")}
    assert {name for name, state in states.items() if state == "measured"} == {"0-0", "1-0", "2-0", "3-0"}


def test_a_campaign_of_separate_forms_goes_on_with_joined_ones(pool):
    suggest("--forms", "apart")
    before = {row["id"].split("-")[0] for row in read()}
    suggest("--more")
    after = {row["id"].split("-")[0] for row in read()}
    assert not before & after


def test_python_takes_results_by_any_row_of_a_compound(tmp_path):
    smiles = [*some_molecules().smiles[:8], f"{some_molecules().smiles[0]}.Cl", "[Na+].[Cl-]"]
    pool = from_smiles(smiles, ids=[*(f"m{k}" for k in range(8)), "salt", "nacl"])
    campaign = Campaign(pool, AGENT.split(":")[0], state=tmp_path / "c.json")
    campaign.tell_many({"m0": 1.0, "salt": 3.0, "m1": 2.5})
    assert campaign.state.means() == {"m0": 2.0, "m1": 2.5}
    campaign.tell_failed("m2")
    assert {each.id for each in campaign.ask(5)} == {f"m{k}" for k in range(3, 8)}
    campaign.withdraw("m3")
    assert "m3" not in campaign.state.pending


def test_ids_of_a_campaign_become_those_of_the_pool(tmp_path):
    bases = some_molecules().smiles[:6]
    smiles, ids = (
        [*bases, *(f"{text}.Cl" for text in bases)],
        [f"{kind}{k}" for kind in ("base", "salt") for k in range(6)],
    )
    before = Campaign(from_smiles(smiles, ids=ids, forms="apart"), "molecule-ucb", state=tmp_path / "c.json")
    before.tell_many({"base0": 1.0, "salt0": 2.0, "salt1": 4.0})
    before.tell_failed("salt2")
    before.ask(2)
    after = Campaign(from_smiles(smiles, ids=ids), state=tmp_path / "c.json")
    assert after.state.means() == {"base0": 1.5, "base1": 4.0}
    assert after.state.failed == ("base2",)
    assert {name[:4] for name in after.state.pending} == {"base"}
    assert after.predict().keys() == {f"base{k}" for k in range(6)}
