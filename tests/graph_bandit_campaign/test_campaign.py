"""A campaign at its door: ask, tell, failures, bounds, noise, goals, limits, prices, vetoes, and its file."""

import re

import numpy as np
import pytest
from support.campaigns import GOALS, IDS, MOLECULES, VALUES, begin, ids_of

from graph_bandit_campaign import BatchConstraints, Goal, Limits, Store
from graph_bandit_campaign.results.facts import LONGEST, Comment
from graph_bandit_env import GraphPool


def begin_with_goals(goals=GOALS, **settings):
    campaign = begin(goals=goals, **settings)
    campaign.tell({key: float(k % 5) for k, key in enumerate(IDS[:8])}, goal="a")
    campaign.tell({key: float(k % 3) for k, key in enumerate(IDS[2:10])}, goal="b")
    return campaign


# --- Asking and telling


def test_a_batch_holds_what_is_neither_measured_nor_pending_nor_failed_nor_vetoed():
    campaign = begin(known=2)
    campaign.tell({IDS[2]: "failed"})
    campaign.annotate(IDS[3], veto=True)
    first, second = ids_of(campaign.ask(8)), ids_of(campaign.ask(8))
    assert len({*first, *second}) == 16
    assert not {*first, *second} & set(IDS[:4])
    assert {IDS[k] for k in np.flatnonzero(campaign.on_offer())} == {*IDS} - {*IDS[:4], *first, *second}
    campaign.annotate(first[0], waits=False)
    assert first[0] in ids_of(campaign.ask(np.int64(3)))
    assert (campaign.ask(1), len(campaign.state.rounds)) == ((), 3)  # nothing is left


def test_a_campaign_prints_its_state_and_a_notebook_shows_the_waiting_batch():
    made = begin("gp-ucb", target="size <nm>")
    assert repr(made) == "Campaign(pool: 22 graphs; goal: maximize size <nm>; agent: gp-ucb; results: none)"
    made.tell({IDS[0]: 1.5, IDS[1]: 0.5})
    (asked,) = made.ask()
    assert f"results: 2 measured, 1 pending; best: 1.5 ({IDS[0]})" in repr(made)
    card = made._repr_html_()
    assert "maximize size &lt;nm&gt;" in card
    assert f"<td>{asked.id}</td>" in card


def test_only_what_is_offered_and_among_the_given_is_suggested():
    campaign = begin("random", offered=[True] * 9 + [False] * 13)
    assert {*ids_of(campaign.ask(5, among=[False] * 4 + [True] * 18))} == {*IDS[4:9]}


def test_results_come_in_any_order_and_replace_what_is_pending():
    campaign = begin()
    asked = ids_of(campaign.ask(3))
    campaign.tell({asked[2]: 0.5})
    campaign.tell({asked[0]: "failed"})
    other = next(key for key in IDS if key not in asked)  # which nobody had asked for
    campaign.tell({other: 1.5})
    assert campaign.state.pending == (asked[1],)
    assert campaign.state.failed == (asked[0],)
    assert {result.id: result.value for result in campaign.state.measured} == {asked[2]: 0.5, other: 1.5}
    campaign.tell({asked[0]: 0.1})  # a failed one was tried again
    assert campaign.state.failed == ()


def test_the_mirrored_problem_has_the_same_suggestions_and_probabilities():
    up, down = begin(known=6), begin(maximize=False)
    down.tell({key: -VALUES[key] for key in IDS[:6]})
    for key, bound, other in ((IDS[7], ">3", "<-3"), (IDS[8], "<0.5", ">-0.5")):
        up.tell({key: bound})
        down.tell({key: other})
    for one, other in zip(up.ask(4), down.ask(4), strict=True):
        assert one.id == other.id
        assert (one.mean, one.low, one.high) == pytest.approx((-other.mean, -other.high, -other.low))
        assert one.probability == pytest.approx(other.probability)


def test_probability_is_that_of_a_normal_result_beyond_the_best():
    campaign = begin("molecule-ucb:warp=none", known=6)
    one = campaign.predict()[IDS[10]]
    draws = np.random.default_rng(0).normal(one.mean, one.result_std, 200_000)
    assert one.probability == pytest.approx((draws > campaign.best).mean(), abs=0.01)
    assert one.interval == pytest.approx((one.mean - 1.645 * one.result_std, one.mean + 1.645 * one.result_std), 1e-3)


@pytest.mark.parametrize("values", [(), (5000.0,), (3.0, 3.0)])
def test_nothing_is_predicted_before_two_results_differ(values):
    campaign = begin()
    campaign.tell(dict(zip(IDS, values, strict=False)))
    for suggestion in campaign.ask(2):
        assert suggestion.mean is suggestion.std is suggestion.interval is suggestion.probability is None


def test_repeated_results_are_averaged_and_the_same_one_counts_once():
    campaign = begin("molecule-ucb:warp=none,noise_variance=1e-6", known=8)
    for _ in range(2):
        campaign.tell({IDS[0]: VALUES[IDS[0]] + 11})
    assert len(campaign.state.measured) == 9
    assert campaign.best == campaign.state.means()[IDS[0]] == pytest.approx(VALUES[IDS[0]] + 5.5)
    assert campaign.predict()[IDS[0]].mean == pytest.approx(VALUES[IDS[0]] + 5.5, abs=0.01)


def test_suggestions_promise_less_than_predictions_and_in_wider_intervals():
    campaign = begin(known=10)
    for each in campaign.ask(5):
        plain = campaign.predict()[each.id]
        assert each.mean < plain.mean
        assert each.probability < plain.probability
        assert each.std > plain.std
        assert each.noise_std == plain.noise_std
        assert each.high - each.low > plain.high - plain.low


def test_who_takes_all_that_is_left_has_not_chosen():
    campaign = begin(known=10)
    predicted = campaign.predict()
    for each in campaign.ask(12):
        for name in ("mean", "std", "noise_std", "probability", "low", "high"):
            assert getattr(each, name) == pytest.approx(getattr(predicted[each.id], name), rel=1e-9)


# --- Bounds, noise and failures


def test_a_bound_teaches_more_than_its_number_until_an_exact_value_replaces_it():
    bounded, valued, plain = begin(known=20), begin(known=20), begin(known=20)
    bounded.tell({IDS[21]: f">{3.0}"})
    valued.tell({IDS[21]: 3.0})
    assert bounded.predict()[IDS[21]].mean > valued.predict()[IDS[21]].mean + 0.05
    bounded.tell({IDS[21]: 2.0})
    plain.tell({IDS[21]: 2.0})
    plain.tell({IDS[21]: f">{3.0}"})
    means = [[each.mean for each in campaign.predict().values()] for campaign in (bounded, plain)]
    assert means[0] == pytest.approx(means[1])


# --- Goals, limits, prices and vetoes


def test_a_graph_of_several_goals_is_measured_when_each_has_a_result():
    campaign = begin_with_goals()
    assert {*campaign.state.settled()} == {*IDS[2:8]}
    assert {*ids_of(campaign.ask(22 - 6))} == {*IDS[:2], *IDS[8:]}
    campaign.tell({IDS[0]: 1.0}, goal="b")
    campaign.tell({IDS[12]: 1.0}, goal="b")
    assert IDS[0] not in campaign.state.pending
    assert IDS[12] in campaign.state.pending


def test_ranges_and_weights_may_change_but_not_what_is_measured(tmp_path):
    begin_with_goals([Goal("a"), Goal("b", "target", 0.0, 1.0)], state=tmp_path / "state.json")
    changed = (Goal("a", weight=1.0), Goal("b", "target", 1.0, 2.0, weight=2.0))
    assert begin(None, state=tmp_path / "state.json", goals=changed).state.goals == changed
    for goals in (GOALS, [Goal("a")], [Goal("a"), Goal("c", "target", 0.0, 1.0)]):
        with pytest.raises(ValueError, match="goals"):
            begin(None, state=tmp_path / "state.json", goals=goals)


def test_limits_hold():
    from rdkit import Chem
    from rdkit.Chem.Descriptors import MolWt

    light = {key: MolWt(Chem.MolFromSmiles(text)) < 170 for key, text in zip(IDS, MOLECULES.smiles, strict=True)}
    assert all(light[key] for key in ids_of(begin(known=4).ask(5, among=Limits(["mw<170"]))))


def test_another_takes_the_place_of_a_veto_and_a_pin_is_in_the_next_batch():
    campaign = begin(known=8)
    before = ids_of(campaign.ask(3))
    campaign.annotate(before[1], veto="too greasy", by="Ada")
    (other,) = campaign.another()
    assert ids_of(campaign.state.rounds[-1]) == [before[0], before[2], other.id]
    assert other.id not in before
    worst = min(campaign.predict().values(), key=lambda each: each.mean if each.id not in IDS[:8] else np.inf).id
    campaign.annotate(worst, pin=True)
    campaign.annotate(before[1], veto=False, pin=False)
    assert worst in ids_of(campaign.ask(2))
    assert (campaign.state.vetoes, campaign.state.waiting_pins()) == ({}, ())


def test_more_pins_than_places_or_a_pin_that_breaks_a_limit_are_refused_and_change_nothing():
    made = begin(known=8)
    for key in IDS[9:12]:
        made.annotate(key, pin=True)
    before = made.state
    with pytest.raises(ValueError, match="pinned"):
        made.ask(2)
    with pytest.raises(ValueError, match="pinned"):
        made.ask(5, among=[key != IDS[10] for key in IDS])
    prices = BatchConstraints(prices=[100.0 if key == IDS[10] else 1.0 for key in IDS], budget=50)
    with pytest.raises(ValueError, match="pinned"):
        made.ask(5, constraints=prices)
    assert (made.state.rounds, made.state.waiting_pins()) == ((), before.pinned)


def test_a_pin_lifts_a_veto_and_a_veto_a_pin():
    made = begin(known=8)
    made.annotate(IDS[9], veto=True)
    made.annotate(IDS[9], pin=True)
    assert (made.state.vetoed, made.state.pinned) == ((), (IDS[9],))
    made.annotate(IDS[9], veto=True)
    assert made.state.pinned == ()


def test_comments_are_kept_in_order_and_once():
    made = begin(known=8)
    made.annotate(IDS[0], comment=" looks odd ", by="Bo")
    made.annotate(IDS[9], comment="buy it")
    made.annotate(IDS[0], comment="looks odd", by="Bo")
    assert made.state.comments == (Comment(IDS[0], "looks odd", "Bo"), Comment(IDS[9], "buy it"))


def test_marks_are_saved_and_read(tmp_path):
    path = tmp_path / "campaign.json"
    made = begin(known=8, state=path)
    made.annotate(IDS[9], veto="no stock")
    made.annotate(IDS[10], pin=True)
    made.annotate(IDS[11], comment="ask Ann")
    again = begin(None, state=path)
    assert again.state == made.state
    assert Store(path).state == made.state
    assert IDS[9] in again.state.structures


def test_a_withdrawn_suggestion_and_one_with_a_result_are_not_chosen_again():
    made = begin(known=8)
    first, second, third = made.ask(3)
    made.annotate(second.id, waits=False)
    made.annotate(third.id, veto=True)
    made.tell({third.id: 5.0})  # it was measured all the same
    made.annotate(first.id, veto=True)
    (new,) = made.another()
    assert ids_of(made.state.rounds[-1]) == [third.id, new.id]


REFUSED = {  # with the names that the message has
    "a number of graphs": ("count", lambda made: made.ask(0)),
    "a value": (IDS[3], lambda made: made.tell({IDS[2]: 2.0, IDS[3]: float("nan")})),
    "a word": (IDS[3], lambda made: made.tell({IDS[2]: 1.0, IDS[3]: "much"})),
    "an empty cell": (IDS[3], lambda made: made.tell({IDS[3]: "n.d."})),
    "a number of other digits": ("result 1", lambda made: made.tell({IDS[3]: "\N{ARABIC-INDIC DIGIT THREE}"})),
    "a number too small": ("1e-320", lambda made: made.tell({IDS[3]: "-1e-320"})),
    "a noise": (IDS[3], lambda made: made.tell([(IDS[3], 3.0, 0.0)])),
    "a goal": ("goal", lambda made: made.tell({IDS[3]: 3.0}, goal="a")),
    "an unknown graph": ("nobody", lambda made: made.tell({"nobody": "failed"})),
    "a measured graph": (IDS[0], lambda made: made.tell({IDS[0]: "failed"})),
    "a veto of a measured one": (IDS[0], lambda made: made.annotate(IDS[0], veto=True)),
    "a veto of an unknown one": ("m99999", lambda made: made.annotate("m99999", veto=True)),
    "a long reason": ("2,000", lambda made: made.annotate(IDS[9], veto="x" * (LONGEST + 1))),
    "a reason with a bell": ("x07", lambda made: made.annotate(IDS[9], veto="bell\a")),
    "a pin of a measured one": (IDS[0], lambda made: made.annotate(IDS[0], pin=True)),
    "a lift of an unknown one": ("m99999", lambda made: made.annotate("m99999", veto=False, pin=False)),
    "an empty comment": ("comment", lambda made: made.annotate(IDS[9], comment="  ")),
    "a seed": ("seed", lambda made: begin(seed=-1)),
    "an agent": ("nobody", lambda made: begin("nobody")),
    "an agent of molecules": ("molecule-ts", lambda made: begin("molecule-ts", GraphPool([[[1.0]]], [[]]))),
    "an agent of one goal": ("random", lambda made: begin("random", goals=GOALS)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused_by_name_and_changes_nothing(name):
    made = begin(known=2)
    before, (named, call) = made.state, REFUSED[name]
    with pytest.raises(ValueError, match=re.escape(named)):
        call(made)
    assert made.state is before
