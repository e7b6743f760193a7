"""Results of other assays, told to a campaign."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from support.molecules import some_molecules

from graph_bandit_campaign import Campaign, Goal
from graph_bandit_campaign.assays.told import read_also
from graph_bandit_env import GraphPool, from_smiles
from graph_bandit_env.pools.products import example_library

POOL = some_molecules(60)
VALUES = dict(zip(POOL.ids, POOL.targets.tolist(), strict=True))
KNOWN = POOL.ids[::6]
OTHERS = [key for key in POOL.ids if key not in KNOWN]
RELATED = {key: VALUES[key] for key in POOL.ids[20:55]}


def campaign(also=None, sign=1, **settings):
    made = Campaign(POOL, maximize=sign > 0, also=also, **settings)
    made.tell_many({key: sign * VALUES[key] for key in KNOWN if key not in made.state.settled()})
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


def test_their_molecules_are_not_asked_for_unless_the_pool_offers_them():
    outside = {"CCCCCCCCCO": 9.0, "CCCCCCCCCCO": 10.0}
    suggested = campaign({"rlm": {**RELATED, **outside}}).ask(20)
    assert {suggestion.id for suggestion in suggested} <= set(OTHERS)


def test_reasons_name_results_of_other_assays():
    made = campaign({"rlm": {**RELATED, "CCCCCCCCCO": 9.0}})
    reason = made.reasons([OTHERS[0]])[OTHERS[0]]
    assert f"{POOL.ids[20]} (rlm)" in reason.pulls
    assert "CCCCCCCCCO (rlm)" in reason.pulls
    assert reason.score == pytest.approx(sum(reason.pulls.values()), abs=1e-6)


def test_molecules_are_known_by_id_by_any_smiles_and_as_a_salt():
    pool = from_smiles(["CCN", "c1ccccc1O", "CCO"], ids=["amine", "phenol", "ethanol"], forms="joined")
    (source,) = read_also({"a": {"amine": 1.0, "Oc1ccccc1": 2.0, "CC[NH3+].[Cl-]": 3.0, "OCCC": 4.0}}, pool)
    assert dict(zip(source.values.tolist(), source.graphs, strict=True)) == {
        1.0: "CCN",
        2.0: "Oc1ccccc1",
        3.0: "CCN",
        4.0: "CCCO",
    }


def test_the_order_of_results_is_nothing():
    first, second = ({"rlm": dict(items)} for items in (RELATED.items(), [*RELATED.items()][::-1]))
    assert campaign(first).ask(5) == campaign(second).ask(5)


def test_graphs_that_are_shown_in_another_order_keep_their_results():
    sizes = [*range(3, 23)]
    values = {f"r{size}": float(size % 7) for size in sizes}
    made = Campaign(rings(sizes), "gp-ucb", also={"old": values})
    made.tell_many({f"r{size}": values[f"r{size}"] for size in sizes[::2]})
    before, sources = made.correlations()["old"].value, made.state.sources
    made.show(rings(sizes[::-1]))
    assert made.correlations()["old"].value == pytest.approx(before, abs=1e-6)
    made.choose_agent(1)
    assert made.state.sources == sources


def test_the_order_of_assays_is_nothing():
    first, second = (
        campaign(dict(pairs)) for pairs in ([("a", RELATED), ("b", VALUES)], [("b", VALUES), ("a", RELATED)])
    )
    assert first.ask(4) == second.ask(4)


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
    assert campaign({"screen": classes}).ask(3) == campaign({"screen": {**classes}}).ask(3)


def test_each_of_several_goals_is_taught_with_its_own_correlation():
    goals = [Goal("logp"), Goal("minus")]
    told = Campaign(POOL, goals=goals, also={"rlm": RELATED})
    for goal, sign in (("logp", 1), ("minus", -1)):
        told.tell_many({key: sign * VALUES[key] for key in KNOWN}, goal=goal)
    assert told.correlations("logp")["rlm"].value > 0.4
    assert told.correlations("minus")["rlm"].value < -0.4
    assert told.correlations() == told.correlations("logp")
    assert {suggestion.id for suggestion in told.ask(3)} <= set(OTHERS)


def test_graphs_that_are_no_molecules_are_taught_by_their_ids():
    sizes = np.arange(3, 33)
    pool = rings(sizes.tolist())
    values = {f"r{size}": float(np.sqrt(size)) for size in sizes}
    errors = []
    for also in (None, {"old": {key: -3 * value for key, value in values.items()}}):
        made = Campaign(pool, also=also)
        made.tell_many({key: values[key] for key in pool.ids[:6]})
        predictions = made.predict()
        errors.append(np.mean([abs(predictions[key].mean - values[key]) for key in pool.ids[6:]]))
    assert errors[1] < errors[0]
    assert made.correlations()["old"].value < -0.2
    pulls = made.reasons([pool.ids[-1]])[pool.ids[-1]].pulls
    assert {name for name in pulls if name.endswith(" (old)")} == {f"{key} (old)" for key in pool.ids}


def test_an_agent_that_does_not_compare_molecules_says_which_do():
    with pytest.raises(ValueError, match="Choose one of the `molecule-` or `gp-` agents"):
        campaign({"rlm": RELATED}, agent="wl-ucb").ask(1)


def test_a_library_of_products_is_taught_by_ids_of_products_and_by_other_molecules():
    library = example_library()
    products = [product for product in library.make(range(0, 400, 5)) if product.smiles]
    value_of = {product.id: float(product.smiles.count("c") + len(product.smiles) / 20) for product in products}
    own, told = products[::8][:8], products[1::2][:40]
    also = {"old": {product.id: value_of[product.id] for product in told} | {"CCCCO": 0.0, "CCCCCCO": 0.1}}
    campaign = Campaign(library, also=also)
    campaign.tell_many({product.id: value_of[product.id] for product in own})
    suggested = campaign.ask(2)
    assert not {suggestion.id for suggestion in suggested} & {product.id for product in own}
    assert campaign.correlations()["old"].value > 0.3


def rings(sizes):
    """Rings without features, named by their sizes."""
    links = [[(k, (k + 1) % size) for k in range(size)] for size in sizes]
    return GraphPool([[[1.0]] * size for size in sizes], links, ids=[f"r{size}" for size in sizes], directed=False)


@pytest.mark.parametrize(
    ("pool", "also", "settings", "text"),
    [
        (POOL, {"rlm": {"m1": 1.0, POOL.ids[0]: 2.0}}, {}, "ids of the pool, or SMILES"),
        (from_smiles(["CCN", "CCC"], ids=["CCO", "b"]), {"rlm": {"CCO": 1.0, "b": 2.0}}, {}, "an id, of CCN, and a"),
        (POOL, {"rlm": {POOL.ids[0]: 2.0}}, {}, "two results that differ"),
        (POOL, {"rlm": {POOL.ids[0]: ">2", POOL.ids[1]: ">3"}}, {}, "two results that differ"),
        (POOL, {"rlm": {POOL.ids[0]: ">2", POOL.ids[1]: ">x"}}, {}, "a number after the sign"),
        (POOL, {"rlm": {POOL.ids[0]: "a", POOL.ids[1]: "b", POOL.ids[2]: "c"}}, {}, "two classes.*a, b, c"),
        (POOL, {"rlm": {POOL.ids[0]: "a", POOL.ids[1]: "b", POOL.ids[2]: 1.0}}, {}, "a, b among other results"),
        (POOL, {"rlm": {POOL.ids[0]: "a", POOL.ids[1]: "a"}}, {}, "two classes.*Got a"),
        (POOL, {"rlm": {POOL.ids[0]: None, POOL.ids[1]: 1.0}}, {}, "a finite number for .*Got (None|True)"),
        (POOL, {"rlm": {POOL.ids[0]: True, POOL.ids[1]: 1.0}}, {}, "a finite number for .*Got (None|True)"),
        (POOL, {"rlm": {POOL.ids[0]: 2.0, POOL.ids[1]: np.nan}}, {}, "finite number"),
        (POOL, {"rlm": {"C" * k: float(k) for k in range(1, 5002)}}, {}, "at most 5,000"),
        (POOL, {"rlm": RELATED}, {"agent": "gnn-ucb"}, "Got agent `gnn-ucb`"),
        (rings([3, 4]), {"rlm": {"r3": 1.0, "r5": 2.0}}, {}, "id of the pool"),
    ],
)
def test_what_they_cannot_teach_is_refused(pool, also, settings, text):
    with pytest.raises(ValueError, match=text):
        Campaign(pool, also=also, **settings)
