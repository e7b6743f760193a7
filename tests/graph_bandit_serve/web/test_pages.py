"""The pages, and the results of jobs as parts of them."""

import re

import pytest
from support.served import NAMES, POOL, Served, result, suggestion, table, write_campaign

from graph_bandit_serve.campaigns.folder import key_of

PAGE = f"/campaigns/{key_of('one.campaign.json')}"


def words_of(answer):
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.text))


def test_a_campaign_says_goals_counts_best_and_suggestions(served):
    words = words_of(served.ask(PAGE))
    for text in ("maximize affinity", "2 results, 1 waiting, 1 failed, 1 batch", "Best: 2 a", "1 predicted"):
        assert text in words


def test_a_class_has_hits_and_chances_and_no_intervals(tmp_path):
    hit, miss = suggestion("a", 0.25, std=None, noise_std=None, low=None, high=None), suggestion("c", 0.25)
    measured = [result("z", 0), result("a", 1, 1)]
    write_campaign(tmp_path / "one.campaign.json", kind="class", measured=measured, rounds=[[hit, miss]], failures=[])
    words = words_of(Served(tmp_path).ask(PAGE))
    assert "1 hits: a" in words
    assert "25 % chance of a hit" in words
    assert "interval" not in words


def test_who_is_invited_by_name_is_named_in_what_they_do(served):
    link = served.ask("/invite?name=Ann+B.", "POST").json()["link"]
    _, cookie = served.enter(link.rpartition("=")[2])
    assert 'value="Ann B."' in served.ask("/", headers=[cookie], key=False).text


@pytest.mark.parametrize(("smiles", "drawn"), [("CCO", "<path/>"), ("no molecule", "not drawn")])
def test_structures_are_pictures_and_one_that_cannot_be_drawn_says_so(tmp_path, smiles, drawn):
    class OneDrawing:
        def draw(self, smiles, scores=(), part=""):
            return "<svg><path/></svg>" if smiles == "CCO" else None

    answer = Served(tmp_path, drawer=OneDrawing()).ask(f"/structure.svg?smiles={smiles}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    assert drawn in answer.text


def test_results_of_jobs_are_shown_as_parts_of_the_page(robot):
    def view(path, asked, **named):
        answer = robot.post(f"{path}?wait=15", asked)
        job = answer.json()["id"]
        robot.get(f"/jobs/{job}?wait=15")
        return robot.ask(f"/jobs/{job}/view")

    sent = robot.send("pool <1>.csv", POOL)
    assert f"{len(NAMES)} molecules" in words_of(view("/look", {"pool": sent}))
    at = f"/campaigns/{robot.start()}"
    first = robot.last(at.rpartition("/")[2])[0]
    upload = robot.send("May.csv", table(("id", "logp"), (first, "1.5"), ("nobody", 2)))
    words = words_of(view(f"{at}/preview", {"table": upload}))
    assert "1 of 2 rows can be added" in words
    assert "the pool has no `nobody`" in words
    assert "--" not in words
    assert first in words_of(view(f"{at}/rows", {"contains": first, "part": "C"}))
    assert first in words_of(view(f"{at}/why", {"ids": [first]}))
    assert words_of(view(f"{at}/enough", {}))
