"""Values that are only known to be above or below a number."""

import csv
import json

import pytest
from support.molecules import some_molecules
from support.tables import write

from graph_bandit_campaign import Campaign
from graph_bandit_cli.main import main

MOLECULES = some_molecules()
IDS = MOLECULES.ids


@pytest.fixture
def suggest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("pool.csv", [("id", "smiles"), *((f"m{k}", text) for k, text in enumerate(MOLECULES.smiles))])

    def run(*rows, separator=",", agent="molecule-ucb"):
        text = "\n".join(separator.join(row) for row in [("id", "logp"), *rows])
        with open("results.csv", "w", encoding="utf-8") as file:
            file.write(text + "\n")
        command = ["suggest", "pool.csv", "--measured", "results.csv", "--n", "3", "--maximize", "logp"]
        code = main([*command, "--out", "out.csv", "--html", "out.html", "--agent", agent])
        if code:
            return code
        with open("out.campaign.json", encoding="utf-8") as file:
            return json.load(file)

    return run


def values(state):
    return sorted((row["id"], row["value"], row.get("bound", "")) for row in state["measured"])


def test_a_bound_is_taught_as_a_bound_and_named(suggest, capsys):
    state = suggest(("m0", "1.0"), ("m1", ">4.5"), ("m2", "<= 0.25"))
    assert values(state) == [("m0", 1.0, ""), ("m1", 4.5, "above"), ("m2", 0.25, "below")]
    assert not {"m0", "m1", "m2"} & {suggestion["id"] for suggestion in state["rounds"][0]}
    sentence = "Only a bound is known, and taught as a bound: m1 ({}4.5), m2 ({}= 0.25)."
    assert sentence.format(">", "<") in capsys.readouterr().out
    with open("out.html", encoding="utf-8") as page:
        assert sentence.format("&gt;", "&lt;") in page.read()


def test_a_bound_stands_with_its_sign_among_the_similar_molecules(suggest):
    suggest(("m0", "1.0"), ("m1", ">4.5"), ("m2", "<= 0.25"))
    with open("out.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            near = {row[f"nearest_{k}"]: row[f"nearest_{k}_logp"] for k in (1, 2, 3)}
            assert near == {"m0": "1", "m1": ">4.5", "m2": "<= 0.25"}
    with open("out.html", encoding="utf-8") as page:
        assert page.read().count("<strong>&gt;4.5</strong>") >= 3


def test_it_is_no_longer_pending(suggest):
    first = suggest(("m0", "1.0"), ("m1", "2.0"))["pending"]
    state = suggest(("m0", "1.0"), ("m1", "2.0"), (first[0], ">9"))
    assert first[0] not in state["pending"]
    assert set(first[1:]) <= set(state["pending"])


def test_an_exact_value_of_the_same_molecule_replaces_it(suggest, capsys):
    state = suggest(("m0", "1.0"), ("m1", ">4.5"), ("m1", "5.5"))
    assert values(state) == [("m0", 1.0, ""), ("m1", 5.5, "")]
    assert "Only a bound" not in capsys.readouterr().out


def test_a_bound_has_a_decimal_comma_where_numbers_have(suggest):
    state = suggest(("m0", "1,5"), ("m1", ">4,5"), separator=";")
    assert values(state) == [("m0", 1.5, ""), ("m1", 4.5, "above")]


@pytest.mark.parametrize("cell", [">", ">x", ">>4", "> failed", ">nan", ">inf"])
def test_refuses_a_bound_without_a_number(suggest, capsys, cell):
    assert suggest(("m0", "1.0"), ("m1", cell)) == 1
    assert "results.csv, line 3: expected a" in capsys.readouterr().err


def test_the_best_is_what_is_surely_reached(suggest, capsys):
    suggest(("m0", "1.0"), ("m1", "2.0"), ("m2", ">4.5"), ("m3", "<9"))
    assert "best logp so far >4.5." in capsys.readouterr().out


def test_other_agents_are_taught_the_number_and_the_note_says_so(suggest, capsys):
    state = suggest(("m0", "1.0"), ("m1", ">4.5"), agent="gnn-ucb")
    assert values(state) == [("m0", 1.0, ""), ("m1", 4.5, "above")]
    assert "Only a bound is known, and taught as if it were the value: m1 (>4.5)." in capsys.readouterr().out


def test_bounds_alone_make_suggestions_without_numbers(suggest, capsys):
    state = suggest(("m0", "<1.0"), ("m1", "<2.0"))
    assert "or all results so far are equal or bounds." in capsys.readouterr().out
    assert state["rounds"][0][0]["mean"] is None


def test_the_same_question_gets_the_same_answer_and_another_bound_another_round(suggest):
    rows = ("m0", "1.0"), ("m1", "2.0")
    first, again = suggest(*rows, ("m2", ">4.5")), suggest(*rows, ("m2", ">4.5"))
    assert first == again
    assert len(suggest(*rows, ("m2", "<4.5"))["rounds"]) == 2


# --- In Python


def campaign(agent="molecule-ucb", **settings):
    return Campaign(MOLECULES, agent, **settings)


def tell_some(told, sign=1):
    for k in range(0, 20, 2):
        told.tell(IDS[k], sign * float(MOLECULES.targets[k]))
    return told


def test_a_told_bound_is_not_its_number():
    bounded, valued = tell_some(campaign()), tell_some(campaign())
    bounded.tell(IDS[1], 3.0, bound="above")
    valued.tell(IDS[1], 3.0)
    assert bounded.predict()[IDS[1]].mean > valued.predict()[IDS[1]].mean + 0.1


def test_small_values_wanted_are_large_values_wanted_with_signs_and_sides_swapped():
    large, small = tell_some(campaign()), tell_some(campaign(maximize=False), -1)
    for identifier, value, bound, other in ((IDS[1], 3.0, "above", "below"), (IDS[3], 0.5, "below", "above")):
        large.tell(identifier, value, bound)
        small.tell(identifier, -value, other)
    assert large.best == -small.best
    for identifier, expected in large.predict().items():
        assert small.predict()[identifier].mean == pytest.approx(-expected.mean, abs=1e-6)
    assert [s.id for s in large.ask(4)] == [s.id for s in small.ask(4)]


@pytest.mark.parametrize("maximize", [True, False])
def test_a_bound_is_the_best_only_from_the_side_of_worse_values(maximize):
    sign, (at_least, at_most) = (1, ("above", "below")) if maximize else (-1, ("below", "above"))
    told = campaign(maximize=maximize)
    told.tell(IDS[0], 9.0 * sign, at_most)
    assert told.best is None
    told.tell(IDS[1], 1.0 * sign)
    assert told.best == 1.0 * sign
    told.tell(IDS[2], 2.0 * sign, at_least)
    told.tell(IDS[2], 3.0 * sign, at_least)
    assert told.best == 3.0 * sign
    told.tell(IDS[2], 2.5 * sign)
    assert told.best == 2.5 * sign


@pytest.mark.filterwarnings("ignore:.*does not read edge features:agents.contract.BlindAgentWarning")
@pytest.mark.parametrize("agent", ["molecule-ucb", "gntk-ucb"])
@pytest.mark.parametrize("exact_first", [True, False])
def test_an_exact_value_replaces_bounds_in_either_order(agent, exact_first):
    told, plain = tell_some(campaign(agent)), tell_some(campaign(agent))
    for bound in ("", "above") if exact_first else ("above", ""):
        told.tell(IDS[1], 4.0 if bound else 2.0, bound)
    plain.tell(IDS[1], 2.0)
    assert {k: s.mean for k, s in told.predict().items()} == {k: s.mean for k, s in plain.predict().items()}


def test_a_campaign_continues_with_its_bounds_and_without_them_its_file_has_none(tmp_path):
    path = tmp_path / "a.campaign.json"
    first = tell_some(campaign(state=path))
    assert "bound" not in path.read_text()
    first.tell(IDS[1], 3.0, "above")
    first.tell(IDS[1], 3.0, "above")
    assert path.read_text().count('"bound": "above"') == 1
    assert Campaign(MOLECULES, state=path).predict() == first.predict()


def test_refuses_a_side_that_is_none():
    with pytest.raises(ValueError, match='Expected `bound` to be "above"'):
        campaign().tell(IDS[1], 3.0, ">")
