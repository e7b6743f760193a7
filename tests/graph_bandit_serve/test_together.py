"""The command and a server change one campaign at the same time: nobody's acknowledged change is lost."""

import random
import re
import time

import pytest
from support.forked import run_command
from support.preloaded import PROCESSES
from support.robot import NAMES, POOL
from support.served import Running

from graph_bandit_campaign import read_state
from graph_bandit_serve.campaigns.folder import key_of

TURNS = 20
PLACE = "One/suggestions.campaign.json"
API = "/api/v1/campaigns"
TOLD = "Another process wrote to it"


@pytest.fixture
def running(tmp_path):
    (tmp_path / "pool.csv").write_bytes(POOL)
    running = Running(tmp_path)
    yield running
    running.stop()


def test_what_command_and_server_acknowledge_is_there(running, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    campaign, moments = key_of(PLACE), random.Random(0)
    settings = {"maximize": ["logp"], "n": 1, "agent": "random"}

    def ask(path, content):
        answer = running.wait(running.post(f"{API}{path}", content))
        assert answer.get("status") == "done" or TOLD in f"{answer}"
        return answer.get("status") == "done"

    assert ask("", {"name": "One", "pool": "pool.csv", "settings": settings})
    assert ask(f"/{campaign}/results", {"results": [{"id": NAMES[0], "value": 0.5}]})
    command = ["suggest", "pool.csv", "--maximize", "logp", "--n", "1", "--agent", "random", "--more"]
    command += ["--measured", "One/suggestions.results.csv", "--out", "One/suggestions.csv"]
    rounds, results, comments, refused = {}, {(NAMES[0], 0.5)}, set(), 0
    for turn in range(TURNS):
        printed = tmp_path / f"printed-{turn}.log"
        process = PROCESSES.Process(target=run_command, args=(command, printed))
        process.start()
        number = 100 * (turn + 1)
        while process.exitcode is None:
            time.sleep(moments.uniform(0, 0.9))
            number, name = number + 1, moments.choice(NAMES[:10])
            if moments.random() < 0.5:
                is_done = ask(f"/{campaign}/comments", {"id": name, "text": f"{number}"})
                comments |= {(name, f"{number}")} if is_done else set()
            else:
                is_done = ask(f"/{campaign}/results", {"results": [{"id": name, "value": number}]})
                results |= {(name, float(number))} if is_done else set()
        process.join()
        text = printed.read_text(encoding="utf-8")
        if process.exitcode == 0:
            rounds[int(re.search(r"Round (\d+)", text)[1])] = re.search(r"(?m)^1 +(m\d+)", text)[1]
        else:
            assert TOLD in text
            refused += 1
    state = read_state((tmp_path / PLACE).read_text(encoding="utf-8"), tmp_path / PLACE)
    assert results <= {(result.id, result.value) for result in state.measured}
    assert comments <= {(comment.id, comment.text) for comment in state.comments}
    assert rounds.items() <= {k: suggested[0].id for k, suggested in enumerate(state.rounds, start=1)}.items()
    with capsys.disabled():
        print(
            f"\n{TURNS} commands, {refused} of them refused, {len(rounds)} rounds; {len(results)} results and "
            f"{len(comments)} comments meanwhile"
        )
