"""Molecules go to the program a few at a time, several programs at once; one that fails is tried once alone."""

import time
from contextlib import closing
from types import SimpleNamespace

import pytest
from support.scoring import await_end, await_note, calls_of, command_of

from graph_bandit_campaign.screening import program
from graph_bandit_campaign.screening import scorer as module
from graph_bandit_campaign.screening.program import split_command
from graph_bandit_campaign.screening.scorer import Scorer

MOLECULES = {f"m{k}": "C" * (k + 1) for k in range(9)}
LENGTHS = {name: len(smiles) for name, smiles in MOLECULES.items()}


def scorer(mode, notes, chunk=4, jobs=2, timeout=30.0):
    return Scorer(split_command(command_of(mode, notes)), chunk, jobs, timeout)


def values_of(outcomes):
    values = {}
    for outcome in outcomes:
        assert not values.keys() & outcome.values.keys()
        values |= outcome.values
    return values


@pytest.mark.parametrize(("chunk", "jobs", "sizes"), [(4, 2, [1, 4, 4]), (1, 3, [1] * 9), (20, 1, [9])])
def test_every_molecule_is_given_once_in_chunks(chunk, jobs, sizes, tmp_path):
    assert values_of(scorer("slow", tmp_path, chunk, jobs).score(MOLECULES)) == LENGTHS
    calls = calls_of(tmp_path)
    assert sorted(len(call["rows"]) for call in calls) == sizes
    times = [time for call in calls for time in ((call["begin"], 1), (call["end"], -1))]
    at_once, most = 0, 0
    for _, change in sorted(times):
        at_once += change
        most = max(most, at_once)
    assert most <= jobs


def test_a_molecule_on_which_the_program_dies_is_the_only_failure(tmp_path):
    outcomes = [*scorer("fails-on-m3", tmp_path).score(MOLECULES)]
    assert values_of(outcomes) == LENGTHS | {"m3": None}
    assert [len(outcome.molecules) for outcome in outcomes if outcome.problem] == [4, 1]
    assert sorted(len(call["rows"]) for call in calls_of(tmp_path)) == [1, 1, 1, 1, 1, 4, 4]


def test_whoever_stops_early_ends_all_programs(tmp_path, monkeypatch):
    monkeypatch.setattr(program, "PATIENCE", 0.2)

    def press_ctrl_c(_):
        await_note(tmp_path)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "time", SimpleNamespace(sleep=press_ctrl_c, monotonic=time.monotonic))
    with closing(scorer("hangs", tmp_path, jobs=1).score(MOLECULES)) as outcomes, pytest.raises(KeyboardInterrupt):
        next(outcomes)
    assert await_end(tmp_path)
