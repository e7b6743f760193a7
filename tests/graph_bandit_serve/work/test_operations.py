"""The operations that jobs run, on files of the folder; called here without a process."""

import json

import pytest
from support.links import make_link
from support.served import MOLECULES, NAMES, POOL, table

from graph_bandit_campaign import Moved, start
from graph_bandit_serve.work.operations import OPERATIONS


def call(name, /, **arguments):
    return OPERATIONS[name](lambda line: None, **arguments)


@pytest.fixture
def place(tmp_path):
    (tmp_path / "up.csv").write_bytes(POOL)
    fields = {"maximize": ["logp"], "n": 3}
    path, _ = start(tmp_path, "One", Moved(tmp_path / "up.csv", "pool.csv"), [], fields, workers=None)
    return {"root": str(tmp_path), "path": str(path)}


def test_a_refusal_names_places_in_the_folder_alone(place, tmp_path):
    bad = str(tmp_path / "bad.csv")
    (tmp_path / "bad.csv").write_bytes(b"a,b\n1,2\n")
    for name, arguments in (
        ("read_pool", {"root": place["root"], "path": bad, "smiles": "s", "id": None, "sheet": None}),
        ("read_results", {"place": place, "table": bad}),
        ("accept", {"place": place, "table": str(tmp_path / "gone.csv"), "name": "suggestions.results-2.csv"}),
    ):
        with pytest.raises(ValueError, match="csv") as caught:
            call(name, **arguments)
        assert f"{tmp_path}" not in str(caught.value)


def test_a_table_is_taken_in_under_no_name_that_is_there(place, tmp_path):
    (tmp_path / "sent.csv").write_bytes(table(("id", "logp"), ("m1", 1)))
    (tmp_path / "outside.csv").touch()
    make_link(tmp_path / "One" / "suggestions.results-2.csv", tmp_path / "outside.csv")
    with pytest.raises(ValueError, match="results-2.csv"):
        call("accept", place=place, table=str(tmp_path / "sent.csv"), name="suggestions.results-2.csv")
    assert ((tmp_path / "outside.csv").read_bytes(), (tmp_path / "sent.csv").exists()) == (b"", True)


@pytest.mark.parametrize("name", ["backtests", "done.csv"])
def test_a_replay_follows_no_link_out_of_the_folder(tmp_path, name):
    served, outside = tmp_path / "served", tmp_path / "outside"
    for folder in (served, outside):
        folder.mkdir()
        rows = zip(NAMES, MOLECULES.smiles, range(len(NAMES)), strict=False)
        (folder / "done.csv").write_bytes(table(("id", "smiles", "logp"), *rows))
    (served / name).unlink(missing_ok=True)
    make_link(served / name, outside / name if name == "done.csv" else outside)
    with pytest.raises(ValueError, match="link"):
        call("backtest", root=str(served), table=str(served / "done.csv"), fields={"maximize": "logp"})
    assert [path.name for path in outside.iterdir()] == ["done.csv"]


@pytest.mark.parametrize(("setting", "name"), [("predictions", "other.csv"), ("html", "other.html")])
def test_a_campaign_that_somebody_sends_replaces_no_file_of_others(place, tmp_path, setting, name):
    (tmp_path / name).write_text("ours")
    path = tmp_path / "One" / "suggestions.campaign.json"
    fields = json.loads(path.read_text())
    fields["command"][setting] = f"../{name}"
    path.write_text(json.dumps(fields))
    with pytest.raises(ValueError, match=name):
        call("suggest", place=place, changes={}, more=True)
    assert ((tmp_path / name).read_text(), json.loads(path.read_text())) == ("ours", fields)
