"""Results of other assays, told to a campaign."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from support.molecules import some_molecules

from graph_bandit_campaign import Campaign, Goal
from graph_bandit_campaign.assays.told import read_also
from graph_bandit_env import GraphPool, from_smiles

POOL = some_molecules(60)
VALUES = dict(zip(POOL.ids, POOL.targets.tolist(), strict=True))
KNOWN = POOL.ids[::6]
OTHERS = [key for key in POOL.ids if key not in KNOWN]
RELATED = {key: VALUES[key] for key in POOL.ids[20:55]}


def campaign(also=None, sign=1, **settings):
    made = Campaign(POOL, maximize=sign > 0, also=also, **settings)
    made.tell({key: sign * VALUES[key] for key in KNOWN if key not in made.state.settled()})
    return made


def rank_correlation(made, sign=1):
    predictions = made.predict()
    return spearmanr([sign * predictions[key].mean for key in OTHERS], [VALUES[key] for key in OTHERS]).statistic


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
    (source,) = read_also({"a": {"amine": 1.0, "Oc1ccccc1": 2.0, "CC[NH3+].[Cl-]": 3.0, "OCCC": 4.0}}, pool)
    assert dict(zip(source.values.tolist(), source.graphs, strict=True)) == {
        1.0: "CCN",
        2.0: "Oc1ccccc1",
        3.0: "CCN",
        4.0: "CCCO",
    }


def test_classes_and_bounds_teach_in_words():
    middle = float(np.median(POOL.targets))
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
    told = Campaign(POOL, goals=goals, also={"rlm": RELATED})
    for goal, sign in (("logp", 1), ("minus", -1)):
        told.tell({key: sign * VALUES[key] for key in KNOWN}, goal=goal)
    assert told.correlations("logp")["rlm"].value > 0.4
    assert told.correlations("minus")["rlm"].value < -0.4
    assert told.correlations() == told.correlations("logp")
    assert {suggestion.id for suggestion in told.ask(3)} <= set(OTHERS)


def test_graphs_that_are_no_molecules_are_taught_by_their_ids():
    sizes = np.arange(3, 15)
    pool = rings(sizes.tolist())
    values = {f"r{size}": float(np.sqrt(size)) for size in sizes}
    errors = []
    for also in (None, {"old": {key: -3 * value for key, value in values.items()}}):
        made = Campaign(pool, also=also)
        made.tell({key: values[key] for key in pool.ids[:6]})
        predictions = made.predict()
        errors.append(np.mean([abs(predictions[key].mean - values[key]) for key in pool.ids[6:]]))
    assert errors[1] < errors[0]
    assert made.correlations()["old"].value < -0.2
    pulls = made.reasons([pool.ids[-1]])[pool.ids[-1]].pulls
    assert {name for name in pulls if name.endswith(" (old)")} == {f"{key} (old)" for key in pool.ids}


def rings(sizes):
    """Rings without features, named by their sizes."""
    links = [[(k, (k + 1) % size) for k in range(size)] for size in sizes]
    return GraphPool([[[1.0]] * size for size in sizes], links, ids=[f"r{size}" for size in sizes], directed=False)


@pytest.mark.parametrize(
    ("pool", "results", "text"),
    [
        (POOL, {"m1": 1.0, POOL.ids[0]: 2.0}, "m1"),
        (from_smiles(["CCN", "CCC"], ids=["CCO", "b"]), {"CCO": 1.0, "b": 2.0}, "CCO"),
        (POOL, {POOL.ids[0]: ">2", POOL.ids[1]: ">3"}, "rlm"),
        (POOL, {POOL.ids[0]: "a", POOL.ids[1]: "b", POOL.ids[2]: "c"}, "a, b, c"),
        (POOL, {POOL.ids[0]: True, POOL.ids[1]: 1.0}, "True"),
        (POOL, {POOL.ids[0]: 2.0, POOL.ids[1]: np.nan}, "nan"),
        (rings([3, 4]), {"r3": 1.0, "r5": 2.0}, "r5"),
    ],
)
def test_what_they_cannot_teach_is_refused(pool, results, text):
    with pytest.raises(ValueError, match=text):
        Campaign(pool, also={"rlm": results})
