"""A campaign that several processes change, and one that dies while it does: no result is lost, or there by half."""

import json
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from support.crashes import Crash, DiesAfter
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign import Desk, Entry
from graph_bandit_campaign.command import suggestions
from graph_bandit_cli.main import main

MOLECULES = some_molecules()
NAMES = [f"m{k}" for k in range(len(MOLECULES))]
STATE, TYPED = "out.campaign.json", "out.results.csv"


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("pool.csv", [("id", "smiles"), *zip(NAMES, MOLECULES.smiles, strict=True)])
    command = ["suggest", "pool.csv", "--n", "4", "--maximize", "logp", "--out", "out.csv", "--agent", "random"]
    assert main(command) == 0
    return Desk(tmp_path / STATE, tmp_path, workers=None)


def last():
    return [suggestion["id"] for suggestion in json.loads(Path(STATE).read_text())["rounds"][-1]]


def crashes(monkeypatch, change):
    """Yield after each crash of a change, until it goes through."""
    count, is_through = 0, False
    while not is_through:
        with monkeypatch.context() as dying:
            dies = DiesAfter(dying, count)
            with suppress(Crash):
                change()
            is_through = dies.left >= 0
        yield
        count += 1


def in_state(desk):
    return {result.id for result in desk.state().measured}


def in_table():
    return {row["id"] for row in read(TYPED)} if Path(TYPED).is_file() else set()


def test_results_that_are_cut_off_are_there_as_a_whole_or_not_at_all(desk, monkeypatch):
    desk.record([Entry(last()[0], "1")])
    new = set(last()[1:3])
    for _ in crashes(monkeypatch, lambda: desk.record([Entry(name, "2") for name in sorted(new)])):
        assert in_state(desk) & new in (set(), new)
        assert in_state(desk) <= in_table()
        assert in_table() & new in (set(), new)
    assert in_state(desk) == in_table() == {*new, last()[0]}


def test_those_who_record_results_at_the_same_time_wait_for_each_other(desk):
    others = [NAMES[start::4][:5] for start in range(4)]

    def record(names):
        for name in names:
            Desk(desk.path, workers=None).record([Entry(name, "1")])

    threads = [threading.Thread(target=record, args=(names,)) for names in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert in_state(desk) == in_table() == {name for names in others for name in names}


@pytest.mark.parametrize("value", ["1", "failed"])
@pytest.mark.parametrize("by_hand", [True, False])
def test_a_round_is_refused_if_a_result_has_come_in_since_the_tables_were_read(desk, monkeypatch, value, by_hand):
    desk.record([Entry(last()[0], "1")])
    read_inputs, second = suggestions.read_inputs, last()[1]

    def read_slowly(*arguments):
        inputs = read_inputs(*arguments)
        desk.record([Entry(second, value)])
        return inputs

    settings = desk.settings()
    with monkeypatch.context() as slow:
        slow.setattr(suggestions, "read_inputs", read_slowly)
        with pytest.raises(ValueError, match="Another process wrote to it"):
            suggestions.suggest(settings) if by_hand else desk.suggest()
    state = desk.state()
    assert second in {*state.failed, *(result.id for result in state.measured)}
    assert second in in_table()
