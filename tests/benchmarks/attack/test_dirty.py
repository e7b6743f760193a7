import csv
import json
import multiprocessing

import numpy as np
import pytest
from support.molecules import some_molecules

from benchmarks.attack.deaths import Moment, run
from benchmarks.attack.dirty import CommandGame, PythonGame
from benchmarks.attack.team import Team

pytestmark = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs forks")
COLUMNS = ("SMILES", "a", "b", "c")
AGENT = "molecule-ucb:short_list=10"


@pytest.fixture
def team(tmp_path):
    smiles = some_molecules(80).smiles
    with (tmp_path / "data.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *((text, k % 7, k % 5, k / 80) for k, text in enumerate(smiles))])
    return Team(tmp_path / "data.csv", COLUMNS, 80, np.random.default_rng(1))


def test_the_command_survives_dirt_and_a_kill(team, tmp_path):
    game = CommandGame(team, tmp_path / "command", AGENT)
    attempts = list(game.play(2))
    played = "a round on dirty tables"
    assert [attempt.kind for attempt in attempts] == [played, "a typing error", played]
    attempts.append(game.kill(np.random.default_rng(0)))
    assert [attempt for attempt in attempts if attempt.fault] == []


def test_a_program_survives_kills(team, tmp_path):
    attempts = list(PythonGame(team, tmp_path / "python", AGENT, 2).kill(np.random.default_rng(0)))
    assert len(attempts) > 1
    assert [attempt for attempt in attempts if attempt.fault] == []


def test_the_account_notices_what_is_wrong(team, tmp_path):
    game = CommandGame(team, tmp_path / "command", AGENT)
    assert [attempt.fault for attempt in game.play(1)] == [""]
    path = tmp_path / "command" / "whole" / "out.campaign.json"
    whole = json.loads(path.read_text(encoding="utf-8"))
    first, *others = whole["measured"]
    for wrong in (
        {"measured": others},
        {"measured": [first, *others, first]},
        {"measured": [{**first, "value": first["value"] + 1}, *others]},
        {"pending": whole["pending"][1:]},
        {"failed": [first["id"]]},
    ):
        path.write_text(json.dumps(whole | wrong), encoding="utf-8")
        assert team.compare(path)
    path.write_text(json.dumps(whole), encoding="utf-8")
    assert not team.compare(path)


def test_work_is_killed_at_its_first_file(tmp_path):
    def work():
        (tmp_path / "first").write_text("1")
        (tmp_path / "second").write_text("2")
        return 0

    assert run(work, tmp_path, tmp_path / "said", Moment(2, 0.0)).code < 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first"]
    end = run(work, tmp_path, tmp_path / "said")
    assert end.code == 0
    assert end.said.strip() == "2"
