"""The pages."""

import re

from support.served import result, suggestion, write_campaign

from graph_bandit_serve.campaigns.folder import key_of

PAGE = f"/campaigns/{key_of('one.campaign.json')}"


def words_of(answer):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.text))


def test_a_campaign_shows_goals_counts_best_and_suggestions_with_their_structures(served):
    page = served.ask(PAGE)
    assert 'src="/structure.svg?smiles=CCO&amp;' in page.text
    words = words_of(page)
    for text in ("maximize affinity", "2 results, 1 waiting, 1 failed, 1 batch", "Best: 2 a", "1 predicted"):
        assert text in words


def test_a_class_has_hits_and_chances_and_no_intervals(served):
    hit, miss = suggestion("a", 0.25, std=None, noise_std=None, low=None, high=None), suggestion("c", 0.25)
    changes = {"measured": [result("z", 0), result("a", 1, 1)], "rounds": [[hit, miss]], "failures": []}
    write_campaign(served.folder / "one.campaign.json", kind="class", **changes)
    words = words_of(served.ask(PAGE))
    assert [text in words for text in ("1 hits: a", "25 % chance of a hit", "interval")] == [True, True, False]


def test_what_cannot_be_shown_is_a_picture_or_a_page_that_says_so(served):
    drawn, page = served.ask("/structure.svg?smiles=no+molecule"), served.ask(f"{PAGE}?tab=none")
    assert (drawn.status_code, drawn.headers["content-type"]) == (200, "image/svg+xml")
    assert "not drawn" in drawn.text
    assert (page.status_code, page.headers["content-type"]) == (422, "text/html; charset=utf-8")
