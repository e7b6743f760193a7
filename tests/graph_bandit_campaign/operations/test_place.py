"""The command of a campaign, kept in its file and repeated from there, wherever the folder is by then."""

import json
import os
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_bandit_campaign import CampaignState
from graph_bandit_campaign.command.settings import ONCE, SuggestSettings
from graph_bandit_campaign.command.suggestions import keep_command
from graph_bandit_campaign.operations.place import repeat_command
from graph_bandit_campaign.store import read_file, write_file

WORDS = st.text("ab ü漢=:<>'\"\\#%", min_size=1, max_size=5).map(str.strip).filter(lambda text: text.strip("."))
FILES = st.text("ab ü漢#%'=", min_size=1, max_size=5).map(str.strip).filter(bool)
FOLDERS = st.sampled_from(["", "deep/er", "..", "../other dir", "/absolute/ü"])


@st.composite
def commands(draw):
    """Settings of a command, of all kinds of types, with files in and out of its folder."""

    def path(kind):
        return Path(draw(FOLDERS)) / f"{draw(FILES)}-{kind}"

    goal = f"goal {draw(WORDS)}".replace("=", "").replace("<", "").replace(">", "")
    return {
        "pool": path("pool.csv"),
        "out": Path("results ü") / f"{draw(FILES)}-out.csv",
        "measured": tuple(path(f"{k}.csv") for k in range(draw(st.integers(0, 2)))),
        draw(st.sampled_from(["maximize", "minimize"])): (goal,),
        "n": draw(st.integers(1, 99)),
        "require": tuple(draw(st.lists(st.sampled_from(["mw<500", "logp=1..4", "hbd>=2"]), max_size=2))),
        "forbid": tuple(draw(st.sampled_from([(), ("pains",), ("C/C=C/C", "[#6]:1")]))),
        "related_assay": tuple(draw(st.sampled_from([(), (f"{path('also.csv')}",), (f"{path('also.csv')}:column",)]))),
        "features": tuple(draw(st.sampled_from([(), ("dock",), (f"{path('e.npz')}", "dock")]))),
        "predictions": draw(st.none() | st.just(path("predictions.csv"))),
        "html": draw(st.none() | st.just(path("page.html"))),
        "price": draw(st.none() | st.just("eur")),
        "id": draw(st.none() | st.just("name")),
        "seed": draw(st.integers(0, 2**40)),
        "skip_bad_rows": draw(st.booleans()),
        "directed": draw(st.none() | st.booleans()),
    }


def kept(command):
    """The command as a campaign's file has it, read from its text."""
    state = CampaignState("random", True, 0, command=keep_command(command))
    return read_file(write_file(state), command.state)[0]


def parts_of(command):
    """All settings of a command that name no file, and all files that it names."""
    named = {"pool", "measured", "predictions", "html", "out", "related_assay", "features"}
    names = {field.name for field in fields(command)} - ONCE - named
    return {name: getattr(command, name) for name in names}, [*map(os.path.abspath, command.files())]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(commands())
def test_any_command_is_repeated_as_it_was_given(tmp_path, monkeypatch, given_fields):
    monkeypatch.chdir(tmp_path)
    Path("results ü").mkdir(exist_ok=True)
    command = SuggestSettings(**given_fields)
    again = repeat_command(kept(command), command.state)
    assert parts_of(again) == parts_of(command)
    assert keep_command(again) == keep_command(command)


@pytest.mark.parametrize(
    "fields_of_command",
    [
        {},
        {"n": "x"},
        {"n": True},
        {"out": 5},
        {"out": None},
        {"pool": ["a"]},
        {"measured": "a.csv"},
        {"maximize": [["a"]]},
    ],
)
def test_a_command_of_other_types_is_refused(tmp_path, fields_of_command):
    command = {"pool": "p.csv", "out": "o.csv", "maximize": ["a"], **fields_of_command} if fields_of_command else {}
    text = json.dumps(
        {"format": 6, "agent": "random", "maximize": True, "seed": 0, "command": command}
        | {key: [] for key in ("measured", "failures", "pending", "rounds")}
    )
    with pytest.raises(ValueError, match="campaign"):
        repeat_command(read_file(text.encode(), tmp_path)[0], tmp_path / "o.campaign.json")
