"""`suggest` on a library of products that nobody lists."""

import csv
import json
import shutil

import numpy as np
import pytest

from graph_bandit_campaign import SuggestSettings, suggest, write_example_data
from graph_bandit_campaign.command.suggestions import write_suggestions

pytest.importorskip("rdkit")


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    folder = tmp_path_factory.mktemp("example")
    write_example_data(folder, "qed", products=True)
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
    with pytest.raises(ValueError, match="Expected a table for .*") as error:
        ask(example, tmp_path / "next.csv", measured=(example / "measured.csv",), **settings)
    assert named in str(error.value)
    assert not (tmp_path / "next.campaign.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("adds_up", [True, False])
def test_sums_over_blocks_are_learnt_and_better_products_found_than_by_chance(example, tmp_path, adds_up):
    generator, values, results, effects = np.random.default_rng(0), {}, tmp_path / "results.csv", []
    shutil.copy(example / "library.toml", tmp_path)
    for name in ("acids.csv", "amines.csv"):
        head, *rows = (example / name).read_text().splitlines()[:41]
        (tmp_path / name).write_text("\n".join([head, *rows]))
        effects.append({row.split(",")[0]: generator.normal() for row in rows})
    given = {"pool": tmp_path / "library.toml", "maximize": ("y",), "out": tmp_path / "next.csv", "workers": None}
    for _ in range(3):
        answer, _ = write_suggestions(SuggestSettings(**given, n=80))
        for name in (suggestion.id for suggestion in answer.suggested):
            acid, amine = name.split("+")
            values[name] = effects[0][acid] + effects[1][amine] if adds_up else generator.normal()
        results.write_text("id,y\n" + "".join(f"{name},{value}\n" for name, value in values.items()))
        given["measured"] = (results,)
    share = answer.shares["building blocks"]
    assert share > 0.5 if adds_up else share < 0.5
    every = np.add.outer(*([*each.values()] for each in effects))
    assert not adds_up or max(values.values()) > np.quantile(every, 0.95)
