"""`suggest` on a library of products that nobody lists."""

import csv
import json

import pytest

from graph_bandit_campaign import SuggestSettings, suggest, write_products
from graph_bandit_campaign.model import products

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


@pytest.mark.slow
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


@pytest.mark.slow
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
