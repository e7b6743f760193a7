"""What each part of the model and each result adds to a prediction, in Python, in the table and on the page."""

import math
import re

import pytest
from support.molecules import some_molecules
from support.tables import read

from agents.molecule import mask_atoms
from graph_bandit_campaign import Campaign, Goal, Reason
from graph_bandit_campaign.model.reasons import score_atoms
from graph_bandit_cli.main import main

MOLECULES = some_molecules(22)
KNOWN = dict(zip(MOLECULES.ids[:9], MOLECULES.targets.tolist(), strict=False))
SIGNED = r"[+-]\d+\.\d\d"


def begin(agent=None, maximize=True, sign=1):
    campaign = Campaign(MOLECULES, agent, maximize=maximize)
    campaign.tell_many({name: sign * value for name, value in KNOWN.items()})
    return campaign


def test_parts_and_pulls_are_the_largest_first_and_add_up_to_the_score():
    reasons = begin().reasons(MOLECULES.ids)
    assert list(reasons) == list(MOLECULES.ids)
    for reason in reasons.values():
        assert set(reason.pulls) == set(KNOWN)
        assert sum(reason.pulls.values()) == pytest.approx(reason.score)
        for terms in (reason.parts, reason.pulls):
            sizes = list(map(abs, terms.values()))
            assert sizes == sorted(sizes, reverse=True)
    predicted = begin().predict()
    in_order = sorted(MOLECULES.ids, key=lambda name: reasons[name].score)
    assert predicted[in_order[-1]].mean > predicted[in_order[0]].mean


def test_a_larger_score_is_better_if_small_values_are_wanted_too():
    large, small = begin().reasons(MOLECULES.ids[-3:]), begin(maximize=False, sign=-1).reasons(MOLECULES.ids[-3:])
    assert small == large


@pytest.mark.parametrize("agent", ["random", "ucb1"])
def test_other_agents_have_none(agent):
    assert begin(agent).reasons(MOLECULES.ids[:2]) == {}


def test_there_are_none_before_two_results_differ():
    campaign = Campaign(MOLECULES)
    assert campaign.reasons(MOLECULES.ids[:2]) == {}
    campaign.tell_many(dict.fromkeys(MOLECULES.ids[:4], 1.0))
    assert campaign.reasons(MOLECULES.ids[:2]) == {}


def test_an_unknown_id_is_refused():
    with pytest.raises(ValueError, match="id of the pool"):
        begin().reasons(["no such"])


def test_each_of_several_goals_has_its_own():
    campaign = Campaign(MOLECULES, goals=[Goal("logp"), Goal("cost", "minimize")])
    campaign.tell_many(KNOWN, goal="logp")
    campaign.tell_many({name: -value for name, value in KNOWN.items()}, goal="cost")
    ids = MOLECULES.ids[-3:]
    assert campaign.reasons(ids, "logp") == campaign.reasons(ids, "cost")
    assert campaign.reasons(ids, "logp").keys() == set(ids)
    assert campaign.reasons(ids) == campaign.reasons(ids, "logp")
    with pytest.raises(ValueError, match="tpsa"):
        campaign.reasons(ids, "tpsa")


def test_small_parts_are_added_up_and_small_pulls_left_out():
    reason = Reason({"a": 2.0, "b": -1.0, "c": 0.5, "d": 0.1, "e": -0.001}, {"x": 1.6, "y": 0.1, "z": -0.101}, True)
    assert reason.main_parts() == {"a": 2.0, "b": -1.0, "c": 0.5, "2 others": pytest.approx(0.099)}
    assert list(reason.main_parts(5)) == ["a", "b", "c", "d", "e"]
    assert reason.main_pulls() == {"x": 1.6}
    assert reason.sentence() == "a +2.00, b -1.00, c +0.50, d +0.10; most from the results of x +1.60"


def test_table_and_page_show_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"m{k},{MOLECULES.smiles[k]},{MOLECULES.targets[k]}" for k in range(len(MOLECULES))]
    (tmp_path / "pool.csv").write_text("\n".join(["id,smiles,y", *rows]), encoding="utf-8")
    (tmp_path / "results.csv").write_text("\n".join(["id,smiles,y", *rows[:9]]), encoding="utf-8")
    command = ["suggest", "pool.csv", "--n", "2", "--maximize", "y", "--out", "out.csv", "--html", "out.html"]
    assert main(command) == 0
    assert {row["reasons"] for row in read("out.csv")} == {""}
    assert 'class="why"' not in (tmp_path / "out.html").read_text(encoding="utf-8")
    assert main([*command, "--measured", "results.csv"]) == 0
    suggested = read("out.csv")
    page = (tmp_path / "out.html").read_text(encoding="utf-8").replace("\N{MINUS SIGN}", "-")
    assert re.search(r"five\s+in six", page)
    scores = [float(text) for text in re.findall(rf'<strong class="number">({SIGNED})', page)]
    cards = page.split('class="why"')[1:]
    assert len(cards) == len(scores) == len(suggested) == 2
    for row, score, card in zip(suggested, scores, cards, strict=True):
        parts, pulls = row["reasons"].split("; most from the results of ")
        assert math.fsum(map(float, re.findall(SIGNED, parts))) == pytest.approx(score, abs=0.05)
        shown = re.findall(rf'<span class="number">({SIGNED})', card)
        assert math.fsum(map(float, shown)) == pytest.approx(score, abs=0.03)
        assert re.match(rf"m\d {SIGNED}", pulls)
        near = {row[f"nearest_{number}"] for number in (1, 2, 3)}
        for name, number in (pull.split() for pull in pulls.split(", ")):
            assert (f"<br>{name}<br>adds {number}" if name in near else f"<span>{name} {number}</span>") in card


def test_table_and_page_show_those_of_each_goal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"m{k},{MOLECULES.smiles[k]},{MOLECULES.targets[k]},{k}" for k in range(len(MOLECULES))]
    (tmp_path / "pool.csv").write_text("\n".join(["id,smiles,y,z", *rows]), encoding="utf-8")
    (tmp_path / "results.csv").write_text("\n".join(["id,smiles,y,z", *rows[:9]]), encoding="utf-8")
    command = ["suggest", "pool.csv", "--measured", "results.csv", "--n", "2", "--maximize", "y", "--target", "z=2..3"]
    assert main([*command, "--out", "out.csv", "--html", "out.html"]) == 0
    suggested = read("out.csv")
    page = (tmp_path / "out.html").read_text(encoding="utf-8").replace("\N{MINUS SIGN}", "-")
    scores = re.findall(rf'<strong>score of (.)</strong><span></span><strong class="number">({SIGNED})', page)
    assert [name for name, _ in scores] == ["y", "z"] * 2
    for place, (name, score) in enumerate(scores):
        parts, _ = suggested[place // 2][f"reasons_{name}"].split("; most from the results of ")
        assert math.fsum(map(float, re.findall(SIGNED, parts))) == pytest.approx(float(score), abs=0.05)
    assert page.count("Reasons for z</summary>") == 2
    assert re.search(rf"z <strong>\d</strong> \({SIGNED}\)", page)
    assert "for ranges, it means a larger value" in page


def test_the_page_says_so_where_scores_are_not_of_ranks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{text},{value}" for text, value in zip(MOLECULES.smiles, MOLECULES.targets, strict=True)]
    (tmp_path / "pool.csv").write_text("\n".join(["smiles,y", *rows]), encoding="utf-8")
    (tmp_path / "results.csv").write_text("\n".join(["smiles,y", *rows[:9]]), encoding="utf-8")
    command = ["suggest", "pool.csv", "--measured", "results.csv", "--minimize", "y", "--n", "1"]
    assert main([*command, "--agent", "molecule-ei:warp=none", "--out", "out.csv", "--html", "out.html"]) == 0
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "0 is their mean" in page
    assert not re.search(r"five\s+in six", page)


def test_atoms_add_what_the_score_loses_without_them():
    campaign, other = begin("molecule-ucb"), MOLECULES.ids[20]
    rater = campaign.model().rater()
    scores = score_atoms(campaign.model(), MOLECULES.smiles[20])
    means = rater(mask_atoms(MOLECULES.smiles[20], rater.traits.names)).mean
    assert scores == pytest.approx(tuple(means[0] - means[1:]))
    assert means[0] == pytest.approx(campaign.reasons([other])[other].score, abs=1e-6)
    assert max(map(abs, scores)) > 0.01


def test_an_agent_that_does_not_count_features_says_nothing_of_atoms():
    assert score_atoms(begin("gp-ucb").model(), MOLECULES.smiles[20]) == ()
