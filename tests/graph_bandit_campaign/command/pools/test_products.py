"""`suggest` on a library of products that nobody lists."""

import csv
import json

import pytest

from graph_bandit_campaign import SuggestSettings, suggest, write_products

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
    assert [each["id"] for each in state["failures"]] == [first[3]["id"]]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"predictions": "all.csv"}, "--predictions"),
        ({"features": ("docking",)}, "--features"),
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
