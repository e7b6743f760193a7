"""The operations that jobs run, on files of the folder; called here without a process."""

import json

import pytest
from support.served import POOL

from graph_bandit_campaign import Moved, start
from graph_bandit_serve.work.operations import FUNCTIONS


def call(name, /, **arguments):
    return FUNCTIONS[name](lambda line: None, **arguments)


@pytest.fixture
def place(tmp_path):
    (tmp_path / "up.csv").write_bytes(POOL)
    fields = {"maximize": ["logp"], "n": 3}
    path, _ = start(tmp_path, "One", Moved(tmp_path / "up.csv", "pool.csv"), [], fields, workers=None)
    return {"root": str(tmp_path), "path": str(path)}


def test_a_refusal_names_places_in_the_folder_alone(place, tmp_path):
    (tmp_path / "bad.xlsx").write_bytes(b"a,b\n1,2\n")
    bad = str(tmp_path / "bad.xlsx")
    looks = {"root": place["root"], "pool": bad, "smiles": "s", "id": None, "sheet": None}
    for name, arguments in ("look", looks), ("preview", {**place, "table": bad, "columns": {}, "sheet": None}):
        with pytest.raises(ValueError, match="xlsx") as caught:
            call(name, **arguments)
        assert f"{tmp_path}" not in str(caught.value)


def test_a_change_of_an_old_version_says_which_it_is_now(place):
    stale = call("undo", **place, version="0" * 16)
    assert (len(stale.stale), stale.version) == (16, "")
    done = call("undo", **place, version=stale.stale)
    assert (done.stale, done.version != stale.stale) == ("", True)


@pytest.mark.parametrize("setting", ["predictions", "html"])
def test_a_campaign_that_somebody_sends_replaces_no_file_of_others(place, tmp_path, setting):
    name = {"predictions": "other.csv", "html": "other.html"}[setting]
    (tmp_path / name).write_text("ours")
    path = tmp_path / "One" / "suggestions.campaign.json"
    fields = json.loads(path.read_text())
    fields["command"][setting] = f"../{name}"
    path.write_text(json.dumps(fields))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=name):
        call("ask", **place, changes={}, next_batch=True)
    assert (tmp_path / name).read_text() == "ours"
    assert path.read_bytes() == before
