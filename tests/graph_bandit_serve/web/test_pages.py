import re

import pytest
from support.served import Served, result, suggestion, write_campaign

from graph_bandit_serve.campaigns.folder import key_of
from graph_bandit_serve.web.pages import digest_of_structure

PAGE = f"/campaigns/{key_of('one.campaign.json')}"


@pytest.fixture
def show(tmp_path):
    """Return the words of the page of a campaign."""

    def show(drawer=None, path=PAGE, shown=100, **changes):
        write_campaign(tmp_path / "one.campaign.json", **changes)
        answer = Served(tmp_path, drawer=drawer, shown=shown).ask(path)
        assert answer.status_code == 200
        return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.text)).replace("&nbsp;", " ")

    return show


def test_a_campaign_says_goals_best_pending_suggestions_and_results(show):
    words = show()
    assert "maximize affinity" in words
    assert "Best so far 2 a" in words
    assert "a 1 CCO measured 2 measured 1 predicted 90 % interval 0 to 2" in words
    assert "Round 1 3 1 1 1" in words  # suggested, measured, failed, pending
    assert "a 2 after round 1 " in words


def test_a_class_has_hits_and_probabilities_and_no_intervals(show):
    hit, miss = suggestion("a", 0.25, std=None, noise_std=None, low=None, high=None), suggestion("c", 0.25)
    words = show(kind="class", measured=[result("z", 0), result("a", 1, 1)], rounds=[[hit, miss]], failures=[])
    assert "Hits so far 1 of 2 results: a" in words
    assert "a 1 CCO measured 1 measured a hit with probability 25 %" in words
    assert "interval" not in words


def test_each_round_has_a_page(show, served):
    rounds = [[suggestion(name)] for name in ("a", "b", "c")]
    assert "b 1 c1ccccc1 failed" in show(path=f"{PAGE}/rounds/2", rounds=rounds)
    for number in ("0", "x", "٣", "9" * 50):
        assert served.ask(f"{PAGE}/rounds/{number}").status_code == 404


def test_long_tables_are_cut_and_say_so(show):
    measured = [result(f"m{k}", k) for k in range(9)]
    words = show(shown=4, measured=measured, rounds=[[suggestion("s")] * 9] * 9, pending=[f"p{k}" for k in range(9)])
    for text in ("And 5 more, which", "And 5 earlier rounds.", "5 earlier results are left out", "p3 and 5 more"):
        assert text in words
    assert ("m8" in words, "m4" in words) == (True, False)


class OneDrawing:
    """Draws ethanol alone."""

    def draw(self, smiles):
        return "<svg><path/></svg>" if smiles == "CCO" else None


@pytest.mark.parametrize(("smiles", "drawn"), [("CCO", "<path/>"), ("no molecule", "not drawn")])
def test_structures_are_pictures_and_one_that_cannot_be_drawn_says_so(tmp_path, smiles, drawn):
    write_campaign(tmp_path / "one.campaign.json", structures={"a": smiles})
    answer = Served(tmp_path, drawer=OneDrawing()).ask(f"{PAGE}/structures/{digest_of_structure(smiles)}.svg")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    assert drawn in answer.text
