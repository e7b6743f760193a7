"""A campaign that is asked and told by its file: after each step, the file is as the command would have written it."""

import json
import shutil
import threading
from pathlib import Path

import pytest
from support.crashes import crashes
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign import Desk, Entry, StaleError, digest_of
from graph_bandit_campaign.command import suggestions
from graph_bandit_cli.main import main

MOLECULES = some_molecules()
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
SMILES = dict(zip(NAMES, MOLECULES.smiles, strict=True))
VALUES = dict(zip(NAMES, MOLECULES.targets.tolist(), strict=True))
COMMAND = ["suggest", "pool.csv", "--n", "4", "--maximize", "logp", "--out", "out.csv", "--agent"]
COMMAND += ["molecule-ucb:short_list=20", "--measured"]
STATE = "out.campaign.json"


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("pool.csv", [("id", "smiles"), *SMILES.items()])
    write("results.csv", [("id", "logp"), *((name, VALUES[name]) for name in NAMES[:6])])
    assert main([*COMMAND, "results.csv"]) == 0
    return Desk(tmp_path / STATE, tmp_path, workers=None)


def last():
    return [suggestion["id"] for suggestion in json.loads(Path(STATE).read_text())["rounds"][-1]]


def in_copy(monkeypatch, *more, tables=("results.csv",)):
    """What the command makes of a copy of the folder."""
    here = Path.cwd()
    copy = here.parent / f"{here.name}-copy"
    shutil.copytree(here, copy)
    monkeypatch.chdir(copy)
    assert main([*COMMAND, *tables, *more]) == 0
    content = Path(STATE).read_text(), Path("out.csv").read_text()
    monkeypatch.chdir(here)
    shutil.rmtree(copy)
    return content


def files():
    return Path(STATE).read_text(), Path("out.csv").read_text()


def test_suggesting_again_is_what_the_command_does(desk, monkeypatch):
    before = files()
    told = desk.suggest()
    assert files() == before == in_copy(monkeypatch)
    assert told.suggested == tuple(last())
    assert [row[1] for row in told.rows] == last()
    expected = in_copy(monkeypatch, "--more")
    desk.suggest(more=True)
    assert files() == expected


def test_typed_results_are_what_a_table_says(desk, monkeypatch):
    first = last()
    entries = [Entry(first[0], f"{VALUES[first[0]]}"), Entry(first[1], ">1.5"), Entry(first[2], "failed")]
    state = desk.record(entries)
    assert state.pending == (first[3],)
    assert state.failed == (first[2],)
    rows = [("id", "logp"), *((entry.id, entry.value) for entry in entries)]
    assert [[row["id"], row["logp"]] for row in read("out.results.csv")] == [list(row) for row in rows[1:]]
    expected = in_copy(monkeypatch, tables=("results.csv", "out.results.csv"))
    desk.suggest()
    assert files() == expected
    assert len(json.loads(files()[0])["rounds"]) == 2


def test_a_result_is_taken_back(desk):
    first = last()
    before = desk.state()
    desk.record([Entry(first[0], "1.5"), Entry(first[1], "failed")])
    desk.take_back([first[0]])
    state = desk.take_back([first[1]])
    assert (set(state.pending), state.measured, state.failed) == (set(first), before.measured, ())
    with pytest.raises(ValueError, match=first[0]):
        desk.take_back([first[0]])
    desk.suggest()
    assert last() == first


@pytest.mark.parametrize("value", ["", "much", "nan", "1e400", ">", "pending"])
def test_what_is_no_result_is_refused_and_nothing_is_kept(desk, value):
    before = files()
    with pytest.raises(ValueError, match="Expected"):
        desk.record([Entry(last()[0], "1.5"), Entry(last()[1], value)])
    assert files() == before
    assert not Path("out.results.csv").exists()


def test_pins_comments_and_lifts_are_kept_without_a_look_at_the_pool(desk):
    first = last()
    Path("pool.csv").rename("gone.csv")
    desk.mark("comment", first[0], "ask Bob", "Ann")
    desk.mark("pin", first[1])
    state = desk.mark("lift", first[1])
    assert [(each.id, each.text, each.by) for each in state.comments] == [(first[0], "ask Bob", "Ann")]
    assert state.pinned == ()
    Path("gone.csv").rename("pool.csv")
    other = next(name for name in NAMES[6:] if name not in first)
    assert desk.mark("pin", other).pinned == (other,)
    desk.suggest(more=True)
    assert last()[0] == other


def test_a_change_of_an_old_version_is_refused(desk, tmp_path):
    old = digest_of(Path(STATE).read_bytes())
    desk.mark("comment", last()[0], "ask Bob")
    stale = Desk(tmp_path / STATE, tmp_path, old, None)
    for change in (stale.suggest, stale.undo, lambda: stale.veto(last()[0]), lambda: stale.record([Entry("m1", "1")])):
        before = files()
        with pytest.raises(StaleError, match=old):
            change()
        assert files() == before
    assert not Path("out.results.csv").exists()


def test_settings_may_change_but_not_which_files_and_agents_there_are(desk, tmp_path):
    assert len(desk.suggest({"n": 2, "require": ("mw<400",)}, more=True).suggested) == 2
    assert desk.settings().require == ("mw<400",)
    for name, value in (("agent", "os:system"), ("out", Path("/tmp/x.csv")), ("nothing", 1)):
        with pytest.raises(ValueError, match=name):
            desk.suggest({name: value})
    with pytest.raises(ValueError, match="inside of the folder"):
        desk.suggest({"forbid": (f"{tmp_path.parent}/secret.txt",)})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pool": "/etc/passwd"}, "inside of the folder"),
        ({"also": ["/etc/passwd:root"]}, "inside of the folder"),
        ({"features": ["../x.npz"]}, "inside of the folder"),
        ({"forbid": ["/etc/x.txt"]}, "inside of the folder"),
        ({"allow_outside": True}, "allow-outside"),
        ({"out": "../out.csv"}, "name of a file"),
        ({"out": "other.csv"}, "of this file"),
        ({"veto": ["m1"]}, "veto"),
        ({"scheduler": "tcp://1.2.3.4:5"}, "scheduler"),
        ({"n": "many"}, "n"),
    ],
)
def test_a_file_that_somebody_sends_runs_nothing_and_reads_nothing_elsewhere(desk, changes, words):
    fields = json.loads(Path(STATE).read_text())
    fields["command"] |= changes
    Path(STATE).write_text(json.dumps(fields))
    with pytest.raises(ValueError, match=words):
        desk.suggest()


# --- Several processes, and one that dies


@pytest.fixture
def random_desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("pool.csv", [("id", "smiles"), *SMILES.items()])
    assert main([*COMMAND[:-2], "random"]) == 0
    return Desk(tmp_path / STATE, tmp_path, workers=None)


def in_state(desk):
    return {result.id for result in desk.state().measured}


def in_table():
    return {row["id"] for row in read("out.results.csv")} if Path("out.results.csv").is_file() else set()


def test_results_that_are_cut_off_are_there_as_a_whole_or_not_at_all(random_desk, monkeypatch):
    random_desk.record([Entry(last()[0], "1")])
    new = set(last()[1:3])
    for _ in crashes(monkeypatch, lambda: random_desk.record([Entry(name, "2") for name in sorted(new)])):
        assert in_state(random_desk) & new in (set(), new)
        assert in_state(random_desk) <= in_table()
        assert in_table() & new in (set(), new)
    assert in_state(random_desk) == in_table() == {*new, last()[0]}


def test_those_who_record_results_at_the_same_time_wait_for_each_other(random_desk):
    others = [NAMES[start::4][:5] for start in range(4)]

    def record(names):
        for name in names:
            Desk(random_desk.path, workers=None).record([Entry(name, "1")])

    threads = [threading.Thread(target=record, args=(names,)) for names in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert in_state(random_desk) == in_table() == {name for names in others for name in names}


@pytest.mark.parametrize(("value", "by_hand"), [("1", True), ("failed", False)])
def test_a_round_is_refused_if_a_result_came_in_meanwhile(random_desk, monkeypatch, value, by_hand):
    random_desk.record([Entry(last()[0], "1")])
    read_inputs, second = suggestions.read_inputs, last()[1]

    def read_slowly(*arguments):
        inputs = read_inputs(*arguments)
        random_desk.record([Entry(second, value)])
        return inputs

    settings = random_desk.settings()
    with monkeypatch.context() as slow:
        slow.setattr(suggestions, "read_inputs", read_slowly)
        with pytest.raises(ValueError, match="Another process wrote to it"):
            suggestions.suggest(settings) if by_hand else random_desk.suggest()
    state = random_desk.state()
    assert second in {*state.failed, *(result.id for result in state.measured)}
    assert second in in_table()
