"""`suggest` on a library of products that nobody lists."""

import csv
import json
import re

import pytest

from graph_bandit_campaign import SuggestSettings, suggest, write_products
from graph_bandit_campaign.model import products
from graph_bandit_env.pools.products import read_product_library

pytest.importorskip("rdkit")


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    folder = tmp_path_factory.mktemp("example")
    write_products(folder, "qed")
    return folder


def ask(example, out, **settings):
    """Suggest, and return the rows of the table."""
    given = {"pool": example / "library.toml", "maximize": ("qed",), "n": 4, "out": out, "workers": None} | settings
    suggest(SuggestSettings(**given))
    with out.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_suggestions_are_products_that_were_not_measured(example, tmp_path, capsys):
    rows = ask(example, tmp_path / "next.csv", measured=(example / "measured.csv",))
    library, _ = read_product_library(example / "library.toml")
    told = (example / "measured.csv").read_text()
    assert len(rows) == 4
    for row in rows:
        (product,) = library.make([library.number_of(row["id"])])
        assert row["smiles"] == product.smiles
        assert f"{row['acid']}+{row['amine']}" == row["id"]
        assert row["id"] not in told
        assert float(row["predicted_qed"])
    assert f"{len(library):,} molecules, 30 measurements" in capsys.readouterr().out


def test_the_same_command_gives_the_same_answer_and_results_make_another(example, tmp_path):
    out = tmp_path / "next.csv"
    first = ask(example, out, measured=(example / "measured.csv",))
    assert ask(example, out, measured=(example / "measured.csv",)) == first
    results = tmp_path / "more.csv"
    results.write_text("id,qed\n" + "".join(f"{row['id']},0.9\n" for row in first[:3]) + f"{first[3]['id']},failed\n")
    second = ask(example, out, measured=(example / "measured.csv", results))
    assert not {row["id"] for row in first} & {row["id"] for row in second}
    state = json.loads((tmp_path / "next.campaign.json").read_text())
    assert state["failed"] == [first[3]["id"]]


def test_a_first_batch_needs_no_results(example, tmp_path):
    rows = ask(example, tmp_path / "next.csv")
    assert len({row["id"] for row in rows}) == 4


def test_limits_prices_and_caps_on_blocks_hold(example, tmp_path):
    settings = {"price": "price", "budget": 90.0, "at_most": 1, "per": "amine", "require": ("mw<350",)}
    rows = ask(example, tmp_path / "next.csv", measured=(example / "measured.csv",), **settings)
    assert sum(float(row["price"]) for row in rows) <= 90
    assert len({row["group"] for row in rows}) == len(rows) > 0
    from rdkit import Chem
    from rdkit.Chem.Descriptors import MolWt

    assert all(MolWt(Chem.MolFromSmiles(row["smiles"])) < 350 for row in rows)


def test_a_limit_that_few_products_meet_still_fills_the_batch(example, tmp_path, monkeypatch, capsys):
    """Some 2 % of 2,500 products, which are listed a hundred at a time."""
    monkeypatch.setattr(products, "FIRST_LIST", 100)
    (tmp_path / "library.toml").write_text((example / "library.toml").read_text())
    for name in ("acids.csv", "amines.csv"):
        rows = (example / name).read_text().splitlines(keepends=True)
        (tmp_path / name).write_text("".join(rows[:51]))
    rows = ask(tmp_path, tmp_path / "next.csv", require=("mw<255",), n=6)
    assert len(rows) == 6
    told = re.search(r"the (\S+) most promising ones were made, and (\d+) meet the limits", capsys.readouterr().out)
    listed, met = (int(count.replace(",", "")) for count in told.groups())
    assert listed > 200
    assert 6 < met < listed / 20


def test_results_of_molecules_outside_teach_and_wrong_ids_are_told(example, tmp_path):
    results = tmp_path / "more.csv"
    results.write_text("id,smiles,qed\nmine,CCOc1ccccc1,0.5\n")
    rows = ask(example, tmp_path / "next.csv", measured=(example / "measured.csv", results))
    assert len(rows) == 4
    results.write_text("id,qed\nacid000+amine999,0.5\n")
    with pytest.raises(ValueError, match=r"the pool has no `acid000\+amine999`"):
        ask(example, tmp_path / "next.csv", measured=(example / "measured.csv", results))


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"predictions": "all.csv"}, "--predictions"),
        ({"features": ("docking",)}, "--features"),
        ({"scheduler": "tcp://nobody:1"}, "--scheduler"),
        ({"minimize": ("logp",)}, "several goals"),
    ],
)
def test_what_cannot_be_done_without_a_list_is_refused_by_name(example, tmp_path, settings, named):
    if "predictions" in settings:
        settings = {"predictions": tmp_path / settings["predictions"]}
    with pytest.raises(ValueError, match="Expected a table of molecules for .*") as error:
        ask(example, tmp_path / "next.csv", measured=(example / "measured.csv",), **settings)
    assert named in str(error.value)
    assert not (tmp_path / "next.campaign.json").exists()


def test_a_limit_on_results_is_refused_by_name(example, tmp_path):
    results = tmp_path / "more.csv"
    results.write_text("id,qed,tox\nacid000+amine000,0.5,3\n")
    with pytest.raises(ValueError, match="Expected a table of molecules for limits on results, `tox<1`"):
        ask(example, tmp_path / "next.csv", measured=(results,), require=("tox<1",))
    assert not (tmp_path / "next.campaign.json").exists()


def test_it_is_told_which_products_probabilities_are_of(example, tmp_path, capsys):
    ask(example, tmp_path / "next.csv", measured=(example / "measured.csv",))
    told = re.search(r"Of (\S+) products the (\S+) most promising ones were made", capsys.readouterr().out)
    assert told.groups() == ("47,040", "1,200")


def test_a_table_of_molecules_has_no_tables_of_blocks_elsewhere(tmp_path):
    (tmp_path / "pool.csv").write_text("id,smiles\na,CCO\nb,CCN\n")
    with pytest.raises(ValueError, match="Expected `--allow-outside` with a library of products"):
        ask(tmp_path, tmp_path / "next.csv", pool=tmp_path / "pool.csv", allow_outside=True, n=1)


def test_slots_that_are_named_as_other_columns_are_refused(example, tmp_path):
    for name in ("acids.csv", "amines.csv"):
        (tmp_path / name).write_text((example / name).read_text())
    library = (example / "library.toml").read_text()
    (tmp_path / "library.toml").write_text(library.replace('name = "acid"', 'name = "price"'))
    with pytest.raises(ValueError, match="Expected slots with other names than id, smiles, reaction, price"):
        ask(tmp_path, tmp_path / "next.csv")


def test_a_slot_that_has_changed_since_the_last_round_is_told(example, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(products, "FIRST_LIST", 100)
    for path in example.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    out = tmp_path / "next.csv"
    ask(tmp_path, out, measured=(tmp_path / "measured.csv",))
    sources = json.loads((tmp_path / "next.campaign.json").read_text())["sources"]
    assert [*sources] == ["reaction amide", "slot amide/acid", "slot amide/amine"]
    assert "since the last round" not in capsys.readouterr().out
    acids = tmp_path / "acids.csv"
    acids.write_text(acids.read_text() + "new,OC(=O)CCCCl,3\n")
    for told in (1, 0):  # the second command gives the same suggestions as the first
        ask(tmp_path, out, measured=(tmp_path / "measured.csv",))
        printed = capsys.readouterr().out
        changed = "slot `acid` of `amide` has changed since the last round: results stay matched by id and SMILES"
        assert printed.count(changed) == printed.count("since the last round") == told
    library = tmp_path / "library.toml"
    library.write_text(library.read_text().replace('"amide"', '"amides"'))
    ask(tmp_path, out, measured=(tmp_path / "measured.csv",))
    printed = capsys.readouterr().out
    assert "reaction `amides` is new since the last round" in printed
    assert "slot `acid` of `amide` is not there any more" in printed
