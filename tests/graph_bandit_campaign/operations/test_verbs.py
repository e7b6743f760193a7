"""The verbs by a campaign's file: after each, the file is as the command would have left it."""

import json
import shutil
import threading
from pathlib import Path

import pytest
from support.crashes import crashes
from support.molecules import some_molecules
from support.tables import write

from graph_bandit_campaign import ConflictError, Entry, Place, Store, annotate, ask, digest_of, redo, tell, undo
from graph_bandit_campaign.command import suggestions
from graph_bandit_cli.main import main

MOLECULES = some_molecules()
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
SMILES = dict(zip(NAMES, MOLECULES.smiles, strict=True))
VALUES = dict(zip(NAMES, MOLECULES.targets.tolist(), strict=True))
COMMAND = ["suggest", "pool.csv", "--n", "4", "--maximize", "logp", "--out", "out.csv", "--agent"]
SMALL = "molecule-ucb:short_list=20"
STATE = "out.campaign.json"


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    monkeypatch.setattr(Store, "clock", staticmethod(lambda: "now"))


def begin(folder, monkeypatch, *more):
    monkeypatch.chdir(folder)
    write("pool.csv", [("id", "smiles"), *SMILES.items()])
    write("results.csv", [("id", "logp"), *((name, VALUES[name]) for name in NAMES[:6])])
    assert main([*COMMAND, *more]) == 0
    return Place(folder / STATE, folder, workers=None)


@pytest.fixture
def place(tmp_path, monkeypatch):
    return begin(tmp_path, monkeypatch, SMALL, "--measured", "results.csv")


@pytest.fixture
def random_place(tmp_path, monkeypatch):
    return begin(tmp_path, monkeypatch, "random")


def state():
    return Store(STATE).state


def last():
    return [suggestion.id for suggestion in state().rounds[-1]]


def files():
    return Path(STATE).read_text(), Path("out.csv").read_text()


def in_copy(monkeypatch, *more, tables=("results.csv",)):
    """What the command makes of a copy of the folder."""
    here = Path.cwd()
    copy = here.parent / f"{here.name}-copy"
    shutil.copytree(here, copy)
    monkeypatch.chdir(copy)
    assert main([*COMMAND, SMALL, "--measured", *tables, *more]) == 0
    content = state(), Path("out.csv").read_text()
    monkeypatch.chdir(here)
    shutil.rmtree(copy)
    return content


def test_asking_again_is_what_the_command_does(place, monkeypatch):
    before = files()
    asked = ask(place)
    assert files() == before
    assert in_copy(monkeypatch) == (state(), before[1])
    assert asked.suggested == tuple(last())
    assert [row[1] for row in asked.rows] == last()
    expected = in_copy(monkeypatch, "--next-batch")
    ask(place, next_batch=True)
    assert (state(), files()[1]) == expected


def test_typed_results_teach_as_those_of_a_table_do_and_stay(place, monkeypatch):
    first, values = last(), (VALUES[last()[0]], ">1.5", "failed")
    told = tell(place, [*map(Entry, first, values)], by="Ann")
    assert (len(told.new), state().pending, state().failed) == (3, (first[3],), (first[2],))
    assert {(each.by, each.at, each.sources) for each in state().results if each.id in first} == {("Ann", "now", ("",))}
    write("more.csv", [("id", "logp"), *zip(first, values, strict=False)])
    tables = in_copy(monkeypatch, tables=("results.csv", "more.csv"))
    assert ask(place).suggested == tuple(each.id for each in tables[0].rounds[-1])
    assert len(state().rounds) == 2
    assert Path("out.csv").read_text() == tables[1]
    assert main([*COMMAND, SMALL, "--measured", "results.csv"]) == 0  # the table says nothing of them, and they stay
    assert len(state().results) == 9


def test_a_result_of_a_structure_that_the_pool_lacks_teaches(place):
    tell(place, [Entry("", 3.5, smiles="CCCCCCCCC"), Entry("other", 1, smiles="CCBr")])
    assert {"CCCCCCCCC", "other"} <= {each.id for each in state().measured}
    ask(place)
    assert len(state().rounds) == 2


def test_changes_are_undone_and_redone(place):
    first, before = last(), state()
    tell(place, [Entry(first[0], "1.5"), Entry(first[1], "failed")])
    after = state()
    assert (undo(place).about, state()) == ("2 results", before)
    assert (redo(place).about, state()) == ("2 results", after)
    undo(place)
    ask(place)
    assert last() == first
    undo(place)
    assert state().rounds == ()


@pytest.mark.parametrize(
    "value", ["", "much", "nan", "1e400", ">", float("nan"), "\N{ARABIC-INDIC DIGIT THREE}", "-1e-320"]
)
def test_what_is_no_result_is_refused_by_name_and_nothing_is_kept(place, value):
    before = files()
    with pytest.raises(ValueError, match=f"`{last()[1]}`"):
        tell(place, [Entry(last()[0], "1.5"), Entry(last()[1], value)])
    assert files() == before


def test_a_second_value_is_a_replicate_or_replaces_the_first(place):
    name = last()[0]
    tell(place, [Entry(name, "1.1")])
    assert tell(place, [Entry(name, "1.9")]).replicates == (name,)
    assert state().means()[name] == 1.5
    assert len(tell(place, [Entry(name, "2.5")], instead=True).gone) == 2
    assert state().means()[name] == 2.5
    assert tell(place, [Entry(name, "2.5")]).twice == 1


def test_marks_are_kept_without_a_look_at_the_pool(place):
    first = last()
    Path("pool.csv").rename("gone.csv")
    annotate(place, first[0], comment="ask Bob", by="Ann")
    annotate(place, first[1], pin=True)
    annotate(place, first[1], pin=False)
    assert [(each.id, each.text, each.by) for each in state().comments] == [(first[0], "ask Bob", "Ann")]
    assert state().pinned == ()
    Path("gone.csv").rename("pool.csv")
    other = next(name for name in NAMES[6:] if name not in first)
    assert annotate(place, other, pin=True).pinned == (other,)
    ask(place, next_batch=True)
    assert last()[0] == other


def test_another_takes_the_place_of_a_veto(place):
    first = last()
    annotate(place, first[1], veto="smells")
    ask(place)
    assert (len(last()), {*first} - {*last()}, len(state().rounds)) == (4, {first[1]}, 1)


def test_a_change_of_an_old_version_is_refused(place, tmp_path):
    old = digest_of(Path(STATE).read_bytes())
    annotate(place, last()[0], comment="ask Bob")
    stale, before = Place(tmp_path / STATE, tmp_path, old, None), files()
    for change in (ask, undo, lambda it: annotate(it, last()[0], veto=True), lambda it: tell(it, [Entry("m1", "1")])):
        with pytest.raises(ConflictError, match=old):
            change(stale)
        assert files() == before


def test_settings_may_change_but_not_which_files_and_agents_there_are(place, tmp_path):
    assert len(ask(place, {"n": 2, "require": ("mw<400",)}, next_batch=True).suggested) == 2
    assert place.settings(state()).require == ("mw<400",)
    for name, value in (("agent", "os:system"), ("out", Path("/tmp/x.csv")), ("nothing", 1)):
        with pytest.raises(ValueError, match=name):
            ask(place, {name: value})
    with pytest.raises(ValueError, match="inside of the folder"):
        ask(place, {"forbid": (f"{tmp_path.parent}/secret.txt",)})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pool": "/etc/passwd"}, "inside of the folder"),
        ({"related_assay": ["/etc/passwd:root"]}, "inside of the folder"),
        ({"features": ["../x.npz"]}, "inside of the folder"),
        ({"forbid": ["/etc/x.txt"]}, "inside of the folder"),
        ({"allow_outside": True}, "allow-outside"),
        ({"out": "../out.csv"}, "of this file"),
        ({"out": "other.csv"}, "of this file"),
        ({"veto": ["m1"]}, "veto"),
        ({"n": "many"}, "n"),
    ],
)
def test_a_file_that_somebody_sends_runs_nothing_and_reads_nothing_elsewhere(place, changes, words):
    fields = json.loads(Path(STATE).read_text())
    fields["command"] |= changes
    Path(STATE).write_text(json.dumps(fields))
    with pytest.raises(ValueError, match=words):
        ask(place)


# --- Several processes, and one that dies


def in_state():
    return {result.id for result in state().measured}


def test_results_that_are_cut_off_are_there_as_a_whole_or_not_at_all(random_place, monkeypatch):
    new = set(last()[1:3])
    for _ in crashes(monkeypatch, lambda: tell(random_place, [Entry(name, "2") for name in sorted(new)])):
        assert in_state() in (set(), new)
    assert in_state() == new


def test_those_who_tell_results_at_the_same_time_wait_for_each_other(random_place):
    others = [NAMES[start::4][:5] for start in range(4)]

    def record(names):
        for name in names:
            tell(random_place, [Entry(name, "1")])

    threads = [threading.Thread(target=record, args=(names,)) for names in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert in_state() == {name for names in others for name in names}


def test_a_round_is_chosen_again_if_a_result_comes_in_meanwhile(place, monkeypatch):
    open_pool, second = suggestions.open_pool, last()[1]
    calls = []

    def open_slowly(*arguments):
        opened = open_pool(*arguments)
        calls.append(1)
        if len(calls) == 1:
            tell(place, [Entry(second, "9")])
        return opened

    tell(place, [Entry(last()[0], "1")])
    monkeypatch.setattr(suggestions, "open_pool", open_slowly)
    ask(place)
    assert (len(calls), len(state().rounds), state().means()[second]) == (2, 2, 9.0)


def test_a_table_that_was_told_has_to_be_named_or_dropped(place, capsys):
    write("more.csv", [("id", "logp"), ("m9", 1.5)])
    assert main([*COMMAND, SMALL, "--measured", "results.csv", "more.csv"]) == 0
    assert main([*COMMAND, SMALL, "--measured", "results.csv"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "--measured results.csv more.csv" in said
    assert "--drop-source more.csv" in said
    assert main([*COMMAND, SMALL, "--measured", "results.csv", "--drop-source", "more.csv"]) == 0
    assert "m9" not in in_state()
