import re

import pytest
from support.served import (
    Elements,
    result,
    serve_app,
    suggestion,
    write_campaign,
)

from graph_bandit_serve.campaigns.folder import key_of
from graph_bandit_serve.web.pages import digest_of_structure

KEY = key_of("one.campaign.json")
PAGE = f"/campaigns/{KEY}"


@pytest.fixture
def served(tmp_path):
    write_campaign(tmp_path / "one.campaign.json")
    return serve_app(tmp_path)


def words_of(answer):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.text)).replace("\xa0", " ").replace("&nbsp;", " ")


def test_a_campaign_says_goals_best_pending_suggestions_and_results(served):
    answer = served.ask(PAGE)
    answer.assert_safe()
    words = words_of(answer)
    assert "maximize affinity" in words
    assert "Best so far 2 a" in words
    assert "These are being measured: c ." in words
    assert "These could not be measured: b ." in words
    assert "a 1 CCO measured 2 measured 1 predicted 90 % interval 0 to 2" in words
    assert "beat the best by then with probability 25 %" in words
    assert "Round 1 3 1 1 1" in words  # suggested, measured, failed, pending
    assert "a 2 after round 1 z 0.5 before" in words


def test_a_class_has_hits_and_probabilities_and_no_intervals(tmp_path):
    hit, miss = suggestion("a", 0.25, std=None, noise_std=None, low=None, high=None), suggestion("c", 0.25)
    measured = [result("z", 0), result("a", 1, 1)]
    write_campaign(tmp_path / "one.campaign.json", kind="class", measured=measured, rounds=[[hit, miss]], failed=[])
    words = words_of(serve_app(tmp_path).ask(PAGE))
    assert "Hits so far 1 of 2 results: a" in words
    assert "a 1 CCO measured 1 measured a hit with probability 25 %" in words
    assert "interval" not in words


def test_each_round_has_a_page_that_leads_to_its_neighbours(tmp_path):
    rounds = [[suggestion(name)] for name in ("a", "b", "c")]
    write_campaign(tmp_path / "one.campaign.json", rounds=rounds)
    served = serve_app(tmp_path)
    answer = served.ask(f"{PAGE}/rounds/2")
    answer.assert_safe()
    assert "b 1 c1ccccc1 failed" in words_of(answer)
    assert {f"{PAGE}/rounds/1", f"{PAGE}/rounds/3", PAGE} < set(Elements(answer.text).places())
    for number in ("0", "4", "-1", "x", "1.0", "٣", "9" * 50):
        assert served.ask(f"{PAGE}/rounds/{number}").status == 404


def test_long_tables_are_cut_and_say_so(tmp_path):
    measured = [result(f"m{k}", k) for k in range(9)]
    rounds = [[suggestion("s")] * 9] * 9
    write_campaign(
        tmp_path / "one.campaign.json", measured=measured, rounds=rounds, pending=[f"p{k}" for k in range(9)]
    )
    words = words_of(serve_app(tmp_path, shown=4).ask(PAGE))
    for text in ("And 5 more, which", "And 5 earlier rounds.", "5 earlier results are left out", "p3 and 5 more"):
        assert text in words
    assert "m8" in words
    assert "m4" not in words


class OneDrawing:
    """Draws ethanol alone."""

    def draw(self, smiles):
        return "<svg><path/></svg>" if smiles == "CCO" else None


def test_structures_are_pictures_and_one_that_cannot_be_drawn_says_so(tmp_path):
    write_campaign(tmp_path / "one.campaign.json", structures={"a": "CCO", "b": "no molecule"})
    served = serve_app(tmp_path, drawer=OneDrawing())
    good, bad = (
        served.ask(f"{PAGE}/structures/{digest_of_structure(smiles)}.svg") for smiles in ("CCO", "no molecule")
    )
    assert good.status == bad.status == 200
    assert good.headers["content-type"] == bad.headers["content-type"] == "image/svg+xml"
    assert good.text == "<svg><path/></svg>"
    assert "not drawn" in bad.text
    good.assert_headers()


def test_vetoes_and_comments_are_shown_and_their_texts_stay_texts(tmp_path):
    marks = {
        "vetoed": [{"id": "c", "reason": "<b>too greasy</b>", "by": "Ann", "round": 1}],
        "comments": [{"id": "a", "text": "ask <i>Bo</i>", "by": "", "round": 1}],
    }
    write_campaign(tmp_path / "one.campaign.json", pending=[], **marks)
    served = serve_app(tmp_path)
    answer = served.ask(PAGE)
    answer.assert_safe()
    words = words_of(answer)
    assert "These are not suggested: c ( &lt;b&gt;too greasy&lt;/b&gt; , by Ann )." in words
    assert "a : ask &lt;i&gt;Bo&lt;/i&gt;" in words
    assert "c CCN vetoed" in re.sub(r" \d ", " ", words)
    view = served.ask(f"/api/v1/campaigns/{KEY}").json()
    assert (view["vetoed"], view["comments"]) == (marks["vetoed"], marks["comments"])
