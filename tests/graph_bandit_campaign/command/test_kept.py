"""The command of a campaign, kept in its file and repeated from there, wherever the folder is by then."""

import json
import os
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_bandit_campaign import CampaignState
from graph_bandit_campaign.command.kept import ONCE, PATHS, files_of, keep_command, read_settings, repeat_command
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.file import read_state, write_state

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
        "also": tuple(draw(st.sampled_from([(), (f"{path('also.csv')}",), (f"{path('also.csv')}:column",)]))),
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
    return read_state(write_state(state), command.state)


def parts_of(command):
    """All settings of a command that name no file, and all files that it names."""
    named = {*PATHS, "out", "also", "features"}
    names = {field.name for field in fields(command)} - ONCE - named
    return {name: getattr(command, name) for name in names}, [*map(os.path.abspath, files_of(command))]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(commands())
def test_any_command_is_repeated_as_it_was_given(tmp_path, monkeypatch, given_fields):
    monkeypatch.chdir(tmp_path)
    Path("results ü").mkdir(exist_ok=True)
    command = SuggestSettings(**given_fields)
    again = repeat_command(kept(command), command.state)
    assert parts_of(again) == parts_of(command)
    assert keep_command(again) == keep_command(command)


def test_a_folder_that_moves_takes_its_command_along(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("old").mkdir()
    command = SuggestSettings(
        pool=Path("old/my pool.csv"), out=Path("old/out.csv"), maximize=("a",), html=Path("x.html")
    )
    state = kept(command)
    assert state.command == {"pool": "my pool.csv", "out": "out.csv", "maximize": ("a",), "html": "../x.html"}
    Path("old").rename("new")
    again = repeat_command(state, Path("new/out.campaign.json"))
    assert again.pool == tmp_path / "new" / "my pool.csv"
    assert again.out == tmp_path / "new" / "out.csv"


def test_what_is_about_one_call_is_not_kept():
    command = SuggestSettings(pool=Path("p.csv"), out=Path("o.csv"), maximize=("a",))
    once = replace(command, veto=("m1=no",), by="Ann", undo=True, more=True, overwrite=True, workers=None)
    assert keep_command(once) == keep_command(command)


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
        {"format": 1, "agent": "random", "maximize": True, "seed": 0, "command": command}
        | {key: [] for key in ("measured", "failed", "pending", "rounds")}
    )
    with pytest.raises(ValueError, match="Expected"):
        repeat_command(read_state(text, tmp_path), tmp_path / "o.campaign.json")


@pytest.mark.parametrize("value", ["2", 2.5, None, [2], True])
def test_a_setting_of_another_type_is_refused(value):
    with pytest.raises(ValueError, match="n"):
        read_settings({"pool": "p.csv", "out": "o.csv", "maximize": ["a"], "n": value})
