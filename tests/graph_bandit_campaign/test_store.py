"""The file of a campaign: it is resumed, shared, undone, and told tables again."""

import re

import pytest
from support.campaigns import GOALS, IDS, VALUES, begin, ids_of

from graph_bandit_campaign import MissingRowsError, Store
from graph_bandit_env import from_smiles


@pytest.mark.parametrize("settings", [{}, {"goals": GOALS}])
def test_a_reopened_campaign_goes_on_as_one_that_was_never_closed(settings, tmp_path, monkeypatch):
    monkeypatch.setattr(Store, "clock", lambda _: "2026-01-01T00:00:00Z")  # both tell a result at the same time
    kept, whole = tmp_path / "kept.json", begin(seed=3, **settings)
    goals = [goal.name for goal in settings.get("goals", [])] or [""]
    for round_number in range(3):
        campaign = begin(seed=3, state=kept, **settings) if round_number == 0 else begin(None, state=kept)
        expected, found = whole.ask(3), campaign.ask(3)
        assert found == expected
        for goal in goals:
            for suggestion in found[:2]:
                whole.tell({suggestion.id: VALUES[suggestion.id] * len(goal * 3)}, goal=goal)
                begin(None, state=kept).tell({suggestion.id: VALUES[suggestion.id] * len(goal * 3)}, goal=goal)
        for each in (whole, begin(None, state=kept)):
            each.tell({IDS[round_number]: f">{2.0}"}, goal=goals[0])
    assert begin(None, state=kept).state == whole.state


def test_two_programs_take_turns_and_a_refusal_changes_nothing(tmp_path):
    one, other = (begin("random", state=tmp_path / "state.json") for _ in range(2))
    one.tell({IDS[0]: 1.0})
    asked = ids_of(other.ask(2))
    assert IDS[0] not in asked
    other.tell({IDS[1]: 1.0})
    assert not {*asked, *IDS[:2]} & {*ids_of(one.ask(3))}
    content = (tmp_path / "state.json").read_bytes()
    with pytest.raises(ValueError, match="count"):
        one.ask(0)
    assert (tmp_path / "state.json").read_bytes() == content
    assert [result.id for result in begin(None, state=tmp_path / "state.json").state.measured] == [IDS[0], IDS[1]]


def test_a_choice_is_made_again_if_results_come_in_meanwhile(tmp_path, monkeypatch):
    one, other = (begin(known=4 * (not k), state=tmp_path / "state.json") for k in range(2))
    choose = one._choose

    def choose_slowly(*given):
        if len(other.state.measured) < 5:
            other.tell({IDS[5]: 9.0})
        return choose(*given)

    monkeypatch.setattr(one, "_choose", choose_slowly)
    whole = begin(known=4)
    whole.tell({IDS[5]: 9.0})
    assert one.ask(3) == whole.ask(3)


@pytest.mark.parametrize("path", ["state.json", None])
def test_changes_are_undone_and_redone_one_by_one(path, tmp_path):
    made = begin("random", known=2, state=path and tmp_path / path)
    states = [made.state]
    made.ask(3)
    states.append(made.state)
    made.tell({IDS[3]: 1.0}, by="Ann")
    states.append(made.state)
    made.annotate(IDS[9], comment="look", pin=True)
    states.append(made.state)
    changes = [made.undo() for _ in range(3)]
    assert made.state == states[0]
    assert [(each.verb, each.by) for each in changes] == [("annotate", ""), ("tell", "Ann"), ("ask", "")]
    for state in states[1:]:
        made.redo()
        assert made.state == state
    made.undo()
    made.annotate(IDS[8], pin=True)
    with pytest.raises(ValueError, match="redo"):
        made.redo()
    if path:
        assert begin(None, state=tmp_path / path).undo().verb == "annotate"


def test_a_table_is_told_again_with_corrections_and_what_is_missing_is_named(tmp_path):
    made, table = begin(state=tmp_path / "state.json", target="y"), tmp_path / "results.csv"

    def tell(*rows, **given):
        table.write_text("\n".join(["id,y", *(f"{key},{value}" for key, value in rows)]))
        return made.tell(table, **given)

    tell((IDS[0], 1.0), (IDS[1], 2.0), (IDS[2], "failed"), (IDS[1], 2.5))
    made.tell({IDS[0]: 1.0, IDS[3]: 4.0})
    assert {result.sources for result in made.state.measured} == {("results.csv",), ("results.csv", ""), ("",)}
    told = tell((IDS[0], 1.5), (IDS[1], 2.0), (IDS[2], 3.0), (IDS[1], 2.5))
    assert [len(each) for each in (told.new, told.gone)] == [2, 1]
    assert made.state.means() == {IDS[0]: 1.25, IDS[1]: 2.25, IDS[2]: 3.0, IDS[3]: 4.0}  # 1.0 was typed, too
    before = made.state
    for missing in (IDS[1], IDS[2]):
        rows = [
            (IDS[0], 1.5),
            (IDS[1], 2.0),
            *[(IDS[1], 2.5)] * (missing == IDS[2]),
            *[(IDS[2], 3.0)] * (missing == IDS[1]),
        ]
        with pytest.raises(MissingRowsError, match=re.escape(missing)):
            tell(*rows)
        assert made.state == before
    tell((IDS[0], 1.5), drop_missing=True)
    assert made.state.means() == {IDS[0]: 1.25, IDS[3]: 4.0}
    made.tell({IDS[3]: 5.0}, instead=True)
    assert made.state.means()[IDS[3]] == 5.0
    with pytest.raises(ValueError, match=r"results\.csv"):
        made.tell({IDS[0]: 7.0}, instead=True)


def test_the_default_agent_goes_by_the_batch_and_a_named_one_stays(tmp_path):
    campaign = begin(None, known=6, state=tmp_path / "state.json")
    campaign.ask(1)
    assert campaign.state.agent == "molecule-ei"
    campaign.ask(3)
    assert campaign.state.agent == "molecule-ucb"
    begin("random", state=tmp_path / "state.json").ask(2)
    assert begin(None, state=tmp_path / "state.json").state.agent == "random"


OTHER = {  # campaigns that the file does not hold
    "maximize": {"maximize": False},
    "seed": {"seed": 2},
    "target": {"target": "ic50"},
    "id of": {"graph_set": from_smiles(["CCO", "CCN"])},
}


@pytest.mark.parametrize("name", OTHER)
def test_a_file_of_another_campaign_is_refused(name, tmp_path):
    begin(state=tmp_path / "state.json", seed=1).tell({IDS[0]: 1.0})
    with pytest.raises(ValueError, match=name):
        begin(state=tmp_path / "state.json", **OTHER[name]).ask()
