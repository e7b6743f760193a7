"""Vetoes, pins and comments: facts of a campaign, which teach nothing."""

import pytest
from support.molecules import some_molecules

from graph_bandit_campaign import BatchConstraints, Campaign
from graph_bandit_campaign.file import read_state, write_state
from graph_bandit_campaign.results.marks import LONGEST, Comment, Veto
from graph_bandit_campaign.state import CampaignState

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


def test_more_pins_than_places_or_a_pin_that_breaks_a_limit_are_refused_and_change_nothing():
    made = campaign()
    for key in POOL.ids[1:4]:
        made.pin(key)
    before = made.state
    with pytest.raises(ValueError, match="pinned"):
        made.ask(2)
    with pytest.raises(ValueError, match="pinned"):
        made.ask(5, among=[key != POOL.ids[2] for key in POOL.ids])
    prices = BatchConstraints(prices=[100.0 if key == POOL.ids[2] else 1.0 for key in POOL.ids], budget=50)
    with pytest.raises(ValueError, match="pinned"):
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


def test_marks_are_saved_and_read(tmp_path):
    path = tmp_path / "campaign.json"
    made = campaign(path)
    made.veto(POOL.ids[1], "no stock")
    made.pin(POOL.ids[2])
    made.comment(POOL.ids[3], "ask Ann")
    again = Campaign(POOL, state=path)
    assert again.state == made.state
    assert read_state(write_state(made.state), path) == made.state
    assert POOL.ids[1] in again.state.structures


def test_rows_that_become_one_molecule_take_their_marks_along():
    state = CampaignState(
        "random", True, 0, vetoed=(Veto("a"), Veto("b", "x")), pinned=("c",), comments=(Comment("a", "t"),)
    )
    named = state.renamed({"a": "b", "c": "d"})
    assert named.vetoed == (Veto("b", "x"),)
    assert named.pinned == ("d",)
    assert named.comments == (Comment("b", "t"),)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda made: made.veto("m99999"), "m99999"),
        (lambda made: made.veto(KNOWN[0]), "measured"),
        (lambda made: made.veto(POOL.ids[1], "x" * (LONGEST + 1)), "2,000"),
        (lambda made: made.veto(POOL.ids[1], "bell\a"), "x07"),
        (lambda made: made.pin(KNOWN[0]), "suggested"),
        (lambda made: made.comment(POOL.ids[1], "  "), "comment"),
        (lambda made: made.lift("m99999"), "m99999"),
    ],
)
def test_bad_marks_are_refused_and_change_nothing(call, text):
    made = campaign()
    before = made.state
    with pytest.raises(ValueError, match=text):
        call(made)
    assert made.state == before


def test_a_withdrawn_suggestion_and_one_with_a_result_are_not_chosen_again():
    made = campaign()
    first, second, third = made.ask(3)
    made.withdraw(second.id)
    made.veto(third.id)
    made.tell(third.id, 5.0)  # it was measured all the same
    made.veto(first.id)
    (new,) = made.another()
    assert ids_of(made.state.rounds[-1]) == [third.id, new.id]
