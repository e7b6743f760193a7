"""Vetoes, pins and comments: facts of a campaign, which teach nothing."""

import pytest
from support.molecules import some_molecules

from graph_bandit_campaign import Campaign
from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_campaign.file import read_state, write_state
from graph_bandit_campaign.results.marks import LONGEST, Comment, Veto
from graph_bandit_campaign.state import CampaignState
from graph_bandit_env import GraphPool, from_smiles
from graph_bandit_env.pools.products import example_library

POOL = some_molecules(40)
VALUES = dict(zip(POOL.ids, POOL.targets.tolist(), strict=True))
KNOWN = POOL.ids[::5]


def campaign(path=None, **settings):
    made = Campaign(POOL, state=path, **settings)
    if not made.state.measured:
        made.tell_many({key: VALUES[key] for key in KNOWN})
    return made


def ids_of(suggestions):
    return [suggestion.id for suggestion in suggestions]


def test_a_vetoed_graph_is_not_suggested_until_the_veto_is_lifted():
    best, second = ids_of(campaign().ask(2))
    made = campaign()
    made.veto(best, "too greasy", by="Ann")
    assert made.state.vetoes == {best: Veto(best, "too greasy", "Ann")}
    assert ids_of(made.ask(1)) != [best]
    made.undo_ask()
    made.lift(best)
    assert not made.state.vetoed
    assert best in ids_of(made.ask(2))
    assert second


def test_a_veto_teaches_nothing():
    plain, vetoing = campaign(), campaign()
    vetoing.veto(POOL.ids[1])
    assert dict(plain.predict()) == dict(vetoing.predict())
    assert not vetoing.failing().teaches


def test_another_takes_the_place_of_a_vetoed_suggestion_and_the_rest_stays():
    made = campaign()
    before = ids_of(made.ask(4))
    made.veto(before[1])
    assert before[1] not in made.state.pending
    (new,) = made.another()
    now = ids_of(made.state.rounds[-1])
    assert new.id not in before
    assert now == [before[0], *before[2:], new.id]
    assert len(made.state.rounds) == 1
    assert set(made.state.pending) == set(now)


def test_a_suggestion_that_has_a_result_stays_in_its_round_as_it_was():
    made = campaign()
    before = made.ask(3)
    made.tell(before[0].id, 1.5)
    made.veto(before[2].id)
    made.another()
    assert made.state.rounds[-1][0] == before[0]
    assert ids_of(made.state.rounds[-1])[1] == before[1].id
    assert len(made.state.rounds[-1]) == 3


def test_without_a_vetoed_suggestion_there_is_nothing_to_replace():
    made = campaign()
    with pytest.raises(ValueError, match="a vetoed suggestion"):
        made.another()
    made.ask(2)
    made.veto(next(key for key in POOL.ids if key not in {*KNOWN, *made.state.pending}))
    with pytest.raises(ValueError, match="a vetoed suggestion"):
        made.another()


def test_if_there_is_no_other_the_round_stays_as_it_was():
    made = campaign()
    mask = [key in POOL.ids[1:3] for key in POOL.ids]
    first, second = ids_of(made.ask(2, among=mask))
    made.veto(first)
    before = made.state
    with pytest.raises(ValueError, match="no more candidates than are left"):
        made.another(among=mask)
    assert made.state == before
    assert made.state.pending == (second,)


def test_pinned_graphs_come_first_and_the_others_are_chosen_beside_them():
    worst = sorted((key for key in POOL.ids if key not in KNOWN), key=VALUES.get)[:2]
    made = campaign()
    for key in worst:
        made.pin(key)
    asked = ids_of(made.ask(4))
    assert asked[:2] == worst
    assert made.state.waiting_pins() == ()
    assert not {*asked[2:]} & {*worst}


def test_more_pins_than_places_or_a_pin_that_breaks_a_limit_are_refused_and_change_nothing():
    made = campaign()
    for key in POOL.ids[1:4]:
        made.pin(key)
    before = made.state
    with pytest.raises(ValueError, match="places for 3 candidates that are pinned"):
        made.ask(2)
    with pytest.raises(ValueError, match="does not meet the limits"):
        made.ask(5, among=[key != POOL.ids[2] for key in POOL.ids])
    prices = BatchConstraints(prices=[100.0 if key == POOL.ids[2] else 1.0 for key in POOL.ids], budget=50)
    with pytest.raises(ValueError, match="places for 3 candidates that are pinned"):
        made.ask(5, constraints=prices)
    assert (made.state.rounds, made.state.waiting_pins()) == ((), before.pinned)


def test_a_pin_lifts_a_veto_and_a_veto_a_pin():
    made = campaign()
    made.veto(POOL.ids[1])
    made.pin(POOL.ids[1])
    assert (made.state.vetoed, made.state.pinned) == ((), (POOL.ids[1],))
    made.veto(POOL.ids[1])
    assert made.state.pinned == ()


def test_comments_are_kept_in_order_and_once():
    made = campaign()
    made.comment(POOL.ids[0], " looks odd ", by="Bo")
    made.comment(POOL.ids[1], "buy it")
    made.comment(POOL.ids[0], "looks odd", by="Bo")
    assert made.state.comments == (Comment(POOL.ids[0], "looks odd", "Bo"), Comment(POOL.ids[1], "buy it"))


def test_marks_are_saved_and_read_and_files_without_them_stay_as_they_were(tmp_path):
    path = tmp_path / "campaign.json"
    made = campaign(path)
    made.veto(POOL.ids[1], "no stock")
    made.pin(POOL.ids[2])
    made.comment(POOL.ids[3], "ask Ann")
    again = Campaign(POOL, state=path)
    assert again.state == made.state
    assert read_state(write_state(made.state), path) == made.state
    assert POOL.ids[1] in again.state.structures


def test_a_vetoed_graph_that_left_the_pool_stays_vetoed(tmp_path):
    path = tmp_path / "campaign.json"
    campaign(path).veto(POOL.ids[1], "no stock")
    part = POOL.take([k for k in range(40) if k != 1])
    made = Campaign(part, state=path)
    made.ask(1)
    made.veto(POOL.ids[1], "still no stock")
    assert made.state.vetoes[POOL.ids[1]].reason == "still no stock"


def test_rows_that_become_one_molecule_take_their_marks_along():
    state = CampaignState(
        "random", True, 0, vetoed=(Veto("a"), Veto("b", "x")), pinned=("c",), comments=(Comment("a", "t"),)
    )
    named = state.renamed({"a": "b", "c": "d"})
    assert named.vetoed == (Veto("b", "x"),)
    assert named.pinned == ("d",)
    assert named.comments == (Comment("b", "t"),)


def test_a_library_makes_what_is_pinned_and_leaves_out_what_is_vetoed():
    library = example_library()
    vetoed, pinned = [product.id for product in library.make(range(50)) if product.smiles][:2]
    made = Campaign(library, "random")
    made.veto(vetoed)
    made.pin(pinned)
    asked = ids_of(made.ask(2))
    assert asked[0] == pinned
    made.veto(asked[1])
    (new,) = ids_of(made.another())
    assert new not in {*asked, vetoed}


def test_other_graphs_can_be_vetoed_too():
    pool = GraphPool([[[float(k)]] for k in range(5)], [[]] * 5)
    made = Campaign(pool, "random")
    made.veto("3")
    assert "3" not in ids_of(made.ask(4))


def test_an_alias_of_a_row_is_its_molecule():
    pool = from_smiles(["CCN", "CC[NH3+].[Cl-]", "CCO"], ids=["a", "b", "c"], forms="joined")
    made = Campaign(pool, "random")
    made.veto("b")
    assert [veto.id for veto in made.state.vetoed] == ["a"]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda made: made.veto("m99999"), "id of"),
        (lambda made: made.veto(KNOWN[0]), "not measured yet"),
        (lambda made: made.veto(POOL.ids[1], "x" * (LONGEST + 1)), "at most 2,000"),
        (lambda made: made.veto(POOL.ids[1], "bell\a"), r"'\\x07'"),
        (lambda made: made.pin(KNOWN[0]), "can be suggested"),
        (lambda made: made.pin("m99999"), "id of"),
        (lambda made: made.comment(POOL.ids[1], "  "), "says something"),
        (lambda made: made.find("COC(=O)C"), "id of"),
        (lambda made: made.lift("m99999"), "id of"),
    ],
)
def test_bad_marks_are_refused_and_change_nothing(call, text):
    made = campaign()
    before = made.state
    with pytest.raises(ValueError, match=text):
        call(made)
    assert made.state == before


def test_an_id_is_vetoed_or_pinned_once():
    with pytest.raises(ValueError, match="`a` more than once"):
        CampaignState("random", True, 0, vetoed=(Veto("a"),), pinned=("a",))


def test_a_veto_is_told_in_words():
    assert Veto("m1").text == "m1"
    assert Veto("m1", "too greasy", "Ann").text == "m1 (too greasy, by Ann)"


def test_what_is_vetoed_promises_nothing():
    made = campaign()
    left = [key for key in POOL.ids if key not in KNOWN]
    for key in left[2:]:
        made.veto(key)
    few, all_of_them = made.outlook(), campaign().outlook()
    assert few is not None
    assert all_of_them is not None
    assert few.better < all_of_them.better


def test_a_withdrawn_suggestion_and_one_with_a_result_are_not_chosen_again():
    made = campaign()
    first, second, third = made.ask(3)
    made.withdraw(second.id)
    made.veto(third.id)
    made.tell(third.id, 5.0)  # it was measured all the same
    made.veto(first.id)
    (new,) = made.another()
    assert ids_of(made.state.rounds[-1]) == [third.id, new.id]


def test_ids_may_have_the_sign_between_id_and_text():
    pool = from_smiles(["COC(=O)C", "COC(=O)CC", "CCO"])
    made = Campaign(pool, "random")
    for text in pool.ids:
        assert made.find(f"{text}=a = b") == (text, "a = b")


def test_texts_of_windows_and_of_spreadsheets_are_taken():
    made = campaign()
    made.comment(POOL.ids[1], "5\u00a0µM\r\nagain")
    assert made.state.comments[0].text == "5\u00a0µM\nagain"


def test_a_pending_graph_may_be_pinned_and_comes_first_if_its_round_is_undone():
    made = campaign()
    last = ids_of(made.ask(3))[-1]
    made.pin(last)
    made.undo_ask()
    assert ids_of(made.ask(3))[0] == last
