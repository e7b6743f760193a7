"""A campaign file that was edited by hand is read as it was meant, or refused with the place of the fault."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from graph_bandit_campaign import Campaign
from graph_bandit_campaign.json_form import read_state, write_state
from graph_bandit_campaign.state import CampaignState, Measurement, Suggestion
from graph_bandit_env import GraphPool

STATE = CampaignState(
    "random",
    True,
    3,
    measured=(Measurement("a", 1.0, 0), Measurement("a", 2.0, 1)),
    failed=("b",),
    pending=("c", "d"),
    rounds=((Suggestion("b"), Suggestion("c", 0.5, 0.1, 0.2, 0.9, 0.25, 0.75)), (Suggestion("d"),)),
    target="qed",
)


def read(text):
    return read_state(text, Path("mine.campaign.json"))


def edited(**changes):
    return json.dumps({**json.loads(write_state(STATE)), **changes})


def test_what_is_written_is_read():
    for state in (STATE, replace(STATE, by_default=True)):
        assert read(write_state(state)) == state


def test_what_could_not_be_read_back_is_not_written():
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_state(replace(STATE, rounds=((Suggestion("c", float("nan"), 0.1, 0.2, 0.9),),)))


def test_what_came_later_is_written_only_where_there_is_something_to_say():
    fields = json.loads(write_state(STATE))
    assert "by_default" not in fields
    assert [set(suggestion) >= {"low", "high"} for suggestion in fields["rounds"][0]] == [False, True]
    assert json.loads(write_state(replace(STATE, by_default=True)))["by_default"] is True


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"maximize": None}, r"Expected `bool`, got `null` - at `\$\.maximize`"),
        ({"maximize": "no"}, r"Expected `bool`, got `str` - at `\$\.maximize`"),
        ({"seed": "3"}, r"Expected `int`, got `str` - at `\$\.seed`"),
        ({"seed": -1}, r"Expected `int` >= 0 - at `\$\.seed`"),
        ({"goals_algorithm": 0}, r"Expected `int` >= 1 - at `\$\.goals_algorithm`"),
        ({"algorithm": 0}, r"Expected `int` >= 1 - at `\$\.algorithm`"),
        ({"failed": "b"}, r"Expected `array`, got `str` - at `\$\.failed`"),
        ({"pending": [7]}, r"Expected `str`, got `int` - at `\$\.pending\[0\]`"),
        ({"structures": {"c": 7}}, r"Expected `str`, got `int` - at `\$\.structures\[\.\.\.\]`"),
        ({"measured": [{"id": "a", "value": True, "round": 0}]}, r"got `bool` - at `\$\.measured\[0\]\.value`"),
        ({"measured": [{"id": "a", "value": "1", "round": 0}]}, r"got `str` - at `\$\.measured\[0\]\.value`"),
        ({"measured": [{"id": "a", "value": 1, "round": -5}]}, r"Expected `int` >= 0 - at `\$\.measured\[0\]\.round`"),
        ({"measured": [{"id": "a", "value": 1}]}, r"missing required field `round` - at `\$\.measured\[0\]`"),
        ({"measured": [{"id": "a", "value": 1, "round": 0, "unit": "nM"}]}, "Expected no key `unit`: Measurement has"),
        ({"rounds": [[{"id": "a", "std": -1.0}]]}, r"Expected `float` >= 0.0 - at `\$\.rounds\[0\]\[0\]\.std`"),
        ({"rounds": [[{"id": "a", "probability": 2}]]}, r"<= 1.0 - at `\$\.rounds\[0\]\[0\]\.probability`"),
        ({"rounds": [[{"id": "a", "low": 1.0, "high": 0.5}]]}, r"`low` <= `high`, or neither. Got 1.0 and 0.5"),
        ({"rounds": [[{"id": "a", "low": 1.0}]]}, r"`low` <= `high`, or neither. Got 1.0 and None"),
        ({"rounds": [[{"id": "a", "low": "1", "high": 2.0}]]}, r"got `str` - at `\$\.rounds\[0\]\[0\]\.low`"),
        ({"by_default": 1}, r"Expected `bool`, got `int` - at `\$\.by_default`"),
        ({"rounds": [[{"id": "a", "rank": 2}]]}, "Expected no key `rank`: Suggestion has"),
        ({"comment": "mine"}, "Expected no key `comment`: CampaignState has"),
        ({"failed": ["a"]}, "Got `a` as measured and failed"),
        ({"pending": ["a"]}, "Got `a` as measured and pending"),
        ({"pending": ["b"]}, "Got `b` as failed and pending"),
        ({"pending": ["c", "c"]}, "Got `c` as pending and pending"),
        ({"format": 99}, "Expected `format` 1. Got 99: it is of another version"),
        ({"format": True}, "Expected `format` 1. Got True: it is of another version"),
    ],
)
def test_a_wrong_value_is_refused_with_its_place(changes, message):
    with pytest.raises(ValueError, match=f"mine.campaign.json to be the state of a campaign. .*{message}"):
        read(edited(**changes))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (write_state(STATE).replace('"seed": 3', '"seed": 3, "seed": 4'), "The key `seed` is there twice"),
        (write_state(STATE).replace('"value": 1.0', '"value": NaN'), "Expected finite numbers. Got NaN"),
        (write_state(STATE).replace('"value": 1.0', '"value": 1e999'), "Expected a finite number for `a`.* Got inf"),
        (
            write_state(STATE).replace('"high": 0.75', '"high": 1e999'),
            "Expected finite `low` <= `high`.* Got 0.25 and inf",
        ),
        (write_state(STATE).replace('"value": 1.0', '"value": 1e160'), r"from -1e\+100 to 1e\+100. Got 1e\+160"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        (write_state(STATE).replace('"failed"', '"broken"'), "Expected the keys `failed`. The file does not have them"),
        ("[]", "Expected `object`, got `array`"),
        ("{}", "Got none"),
        ("", "Expecting value: line 1"),
        (write_state(STATE)[:100], "line"),
    ],
)
def test_text_that_is_not_a_campaign_is_refused(text, message):
    with pytest.raises(ValueError, match=f"mine.campaign.json to be the state of a campaign. .*{message}"):
        read(text)


def test_a_file_saved_by_windows_is_read(tmp_path):
    path = tmp_path / "mine.json"
    path.write_bytes(edited(measured=[], pending=["1"]).replace("\n", "\r\n").encode("utf-8-sig"))
    assert Campaign(GraphPool([[[1.0]]] * 5, [[]] * 5), state=path).state.pending == ("1",)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "mine.json"
    path.write_bytes(write_state(STATE).encode("utf-16"))
    with pytest.raises(ValueError, match="to be the state of a campaign, in UTF-8"):
        Campaign(GraphPool([[[1.0]]] * 5, [[]] * 5), state=path)


def test_a_measured_graph_cannot_fail():
    campaign = Campaign(GraphPool([[[1.0]]] * 5, [[]] * 5), "random")
    campaign.tell("1", 2.0)
    with pytest.raises(ValueError, match="Got `1` as measured and failed"):
        campaign.tell_failed("1")
    assert campaign.state.failed == ()
