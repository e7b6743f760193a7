"""Results of related assays, as `--related-assay` reads them and as Python gives them; the model learns from them."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from support.molecules import some_molecules
from support.tables import write

from graph_bandit_campaign import Campaign, Goal
from graph_bandit_campaign.assays.tables import read_other_tables, sources_of, tables_of
from graph_bandit_env import GraphPool, from_smiles

POOL = from_smiles(["CCN", "CCO", "c1ccccc1"], ids=["1", "2", "3"], salts="merge")
OTHER = from_smiles(["CCO", "CCCO", "CCCCO"], ids=["x", "y", "3"])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(*texts):
    """Return the values and bounds of each molecule, by assay."""
    sources, _ = sources_of(read_other_tables(texts, None, "smiles", ("pic50",)), POOL)
    found = {}
    for source in sources:
        for key, value, side in zip(source.graphs, source.values.tolist(), source.sides.tolist(), strict=True):
            found.setdefault(source.name, {}).setdefault(key, []).append([value, f">{value}", f"<{value}"][side])
    return found


def test_the_only_column_of_values_need_not_be_named():
    write("rlm.csv", [("ID", "smiles", "RLM"), ("x", "CCO", 1), ("y", "CCCO", 2)])
    assert read("rlm.csv") == {"RLM": {"CCO": [1.0], "CCCO": [2.0]}}


def test_of_several_columns_one_is_to_be_named():
    write("rlm.csv", [("smiles", "a", "b"), ("CCO", 1, 5), ("CCCO", 2, 4)])
    with pytest.raises(ValueError, match="a, b"):
        read("rlm.csv")
    assert read("rlm.csv:b") == {"b": {"CCO": [5.0], "CCCO": [4.0]}}
    assert set(read("rlm.csv:a", "rlm.csv:b")) == {"a", "b"}


def test_a_smiles_counts_and_not_the_id_of_another_project():
    write("rlm.csv", [("id", "smiles", "v"), ("1", "OCC", 1), ("9", "CC[NH3+].[Cl-]", 2)])
    assert read("rlm.csv") == {"v": {"CCO": [1.0], "CCN": [2.0]}}


def test_ids_of_the_pool_will_do():
    write("rlm.csv", [("id", "v"), ("3", 1), ("1", 2)])
    assert read("rlm.csv") == {"v": {"c1ccccc1": [1.0], "CCN": [2.0]}}
    write("rlm.csv", [("id", "v"), ("3", 1), ("17", 2)])
    with pytest.raises(ValueError, match="17"):
        read("rlm.csv")


def test_repeats_count_as_their_mean_and_bounds_as_bounds():
    rows = [("CCO", 1), ("OCC", 3), ("CCCO", 5), ("CCCCO", ">7"), ("CCO", "<= 9"), ("CCN", "failed"), ("CN", "")]
    write("rlm.csv", [("smiles", "v"), *rows])
    assert read("rlm.csv") == {"v": {"CCO": [2.0, "<9.0"], "CCCO": [5.0], "CCCCO": [">7.0"]}}


def test_two_classes_are_bounds_on_either_side_of_a_number():
    rows = [("CCO", "Active"), ("CCCO", "inactive"), ("CCCCO", "n.d."), ("CCN", "ACTIVE"), ("CN", "pending")]
    write("hts.csv", [("smiles", "screen"), *rows])
    assert read("hts.csv") == {"screen": {"CCO": [">0.0"], "CCCO": ["<0.0"], "CCN": [">0.0"]}}


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([("CCO", 1), ("nonsense", 2)], "line 3"),
        ([("CCO", 1), ("CCN", "about 3")], "about 3"),
        ([("CCO", 1), ("CCN", 1)], "rlm"),
        ([("CCO", "low"), ("CCN", "medium"), ("CN", "high")], "medium"),
    ],
)
def test_bad_tables_are_refused(rows, text):
    write("rlm.csv", [("smiles", "v"), *rows])
    with pytest.raises(ValueError, match=text):
        read("rlm.csv")


def finished(path="old.campaign.json", **settings):
    """Another campaign, which measured all of its molecules."""
    made = Campaign(OTHER, "molecule-ucb", state=path, **settings)
    names = [goal.name for goal in settings.get("goals", ())] or [""]
    made.ask(3)
    for name in names:
        made.tell({"x": 5.0, "y": 6.0}, goal=name)
        made.tell({"3": f">{7.0}"}, goal=name)
    return path


def test_a_campaign_teaches_by_the_structures_that_it_has():
    path = finished(target="pic50")  # the name is that of this campaign's own goal
    assert read(path) == {"old pic50": {"CCO": [5.0], "CCCO": [6.0], "CCCCO": [">7.0"]}}


def test_each_goal_of_a_campaign_teaches_and_one_can_be_named():
    path = finished(goals=[Goal("pic50"), Goal("logd", "minimize")])
    assert list(read(path)) == ["logd", "old pic50"]
    assert list(read(f"{path}:LogD")) == ["logd"]
    with pytest.raises(ValueError, match="solubility"):
        read(f"{path}:solubility")


# --- In Python

MANY = some_molecules(60)
VALUES = dict(zip(MANY.ids, MANY.targets.tolist(), strict=True))
TOLD = MANY.ids[::6]
LEFT = [key for key in MANY.ids if key not in TOLD]
RELATED = {key: VALUES[key] for key in MANY.ids[20:55]}


def campaign(related_assays=None, sign=1, **settings):
    made = Campaign(MANY, maximize=sign > 0, related_assays=related_assays, **settings)
    made.tell({key: sign * VALUES[key] for key in TOLD if key not in made.state.settled()})
    return made


def rank_correlation(made, sign=1):
    predictions = made.predict()
    return spearmanr([sign * predictions[key].mean for key in LEFT], [VALUES[key] for key in LEFT]).statistic


@pytest.mark.parametrize("sign", [1, -1])
def test_they_teach_and_the_correlation_is_with_the_values(sign):
    told = campaign({"rlm": RELATED}, sign)
    assert rank_correlation(told, sign) > rank_correlation(campaign(sign=sign), sign)
    correlation = told.correlations()["rlm"]
    assert sign * correlation.value > 0.4
    assert correlation.low < correlation.value < correlation.high
    assert campaign().correlations() == {}


def test_molecules_are_known_by_id_by_any_smiles_and_as_a_salt():
    pool = from_smiles(["CCN", "c1ccccc1O", "CCO"], ids=["amine", "phenol", "ethanol"], salts="merge")
    also = {"a": {"amine": 1.0, "Oc1ccccc1": 2.0, "CC[NH3+].[Cl-]": 3.0, "OCCC": 4.0}}
    ((source,), _) = sources_of(tables_of(also, pool), pool)
    assert dict(zip(source.graphs, source.values.tolist(), strict=True)) == {"CCN": 2.0, "Oc1ccccc1": 2.0, "CCCO": 4.0}


def test_classes_and_bounds_teach_in_words():
    middle = float(np.median(MANY.targets))
    classes = {key: "active" if value > middle else "inactive" for key, value in VALUES.items()}
    bounds = {
        key: f">{middle}" if value > middle else [f"<{middle}", f"<{middle + 1}"] for key, value in VALUES.items()
    }
    plain = rank_correlation(campaign())
    for told in (campaign({"screen": classes}), campaign({"screen": bounds})):
        assert told.correlations()["screen"].value > 0.3
        assert rank_correlation(told) > plain


def test_each_of_several_goals_is_taught_with_its_own_correlation():
    goals = [Goal("logp"), Goal("minus")]
    told = Campaign(MANY, goals=goals, related_assays={"rlm": RELATED})
    for goal, sign in (("logp", 1), ("minus", -1)):
        told.tell({key: sign * VALUES[key] for key in TOLD}, goal=goal)
    assert told.correlations("logp")["rlm"].value > 0.4
    assert told.correlations("minus")["rlm"].value < -0.4
    assert told.correlations() == told.correlations("logp")
    assert {suggestion.id for suggestion in told.ask(3)} <= set(LEFT)


def test_graphs_that_are_no_molecules_are_taught_by_their_ids():
    sizes = np.arange(3, 15)
    pool = rings(sizes.tolist())
    values = {f"r{size}": float(np.sqrt(size)) for size in sizes}
    errors = []
    for related_assays in (None, {"old": {key: -3 * value for key, value in values.items()}}):
        made = Campaign(pool, related_assays=related_assays)
        made.tell({key: values[key] for key in pool.ids[:6]})
        predictions = made.predict()
        errors.append(np.mean([abs(predictions[key].mean - values[key]) for key in pool.ids[6:]]))
    assert errors[1] < errors[0]
    assert made.correlations()["old"].value < -0.2
    contributions = made.explain([pool.ids[-1]])[pool.ids[-1]].contributions
    assert {name for name in contributions if name.endswith(" (old)")} == {f"{key} (old)" for key in pool.ids}


def rings(sizes):
    """Rings without features, named by their sizes."""
    links = [[(k, (k + 1) % size) for k in range(size)] for size in sizes]
    return GraphPool([[[1.0]] * size for size in sizes], links, ids=[f"r{size}" for size in sizes], directed=False)


@pytest.mark.parametrize(
    ("pool", "results", "text"),
    [
        (MANY, {"m1": 1.0, MANY.ids[0]: 2.0}, "m1"),
        (from_smiles(["CCN", "CCC"], ids=["CCO", "b"]), {"CCO": 1.0, "b": 2.0}, "CCO"),
        (MANY, {MANY.ids[0]: ">2", MANY.ids[1]: ">3"}, "rlm"),
        (MANY, {MANY.ids[0]: "a", MANY.ids[1]: "b", MANY.ids[2]: "c"}, "a, b, c"),
        (MANY, {MANY.ids[0]: True, MANY.ids[1]: 1.0}, "True"),
        (MANY, {MANY.ids[0]: 2.0, MANY.ids[1]: np.nan}, "nan"),
        (rings([3, 4]), {"r3": 1.0, "r5": 2.0}, "r5"),
    ],
)
def test_what_they_cannot_teach_is_refused(pool, results, text):
    with pytest.raises(ValueError, match=text):
        Campaign(pool, related_assays={"rlm": results})
