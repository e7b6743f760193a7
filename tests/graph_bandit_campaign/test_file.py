import subprocess
import sys

import pytest

from graph_bandit_campaign.file import read_state, write_state
from graph_bandit_campaign.results.measurement import Measurement
from graph_bandit_campaign.state import CampaignState

KILLED = """
import sys

import registry
from graph_bandit_env import GraphPool
from graph_bandit_campaign import Campaign
pool = GraphPool([[[1.0]]] * 5000, [[]] * 5000)
campaign = Campaign(pool, "random", state={path!r})
for number in range(2000):
    for suggestion in campaign.ask(2):
        campaign.tell(suggestion.id, float(number))
        print(suggestion.id, number, flush=True)
"""


@pytest.mark.slow
def test_a_killed_program_loses_nothing_that_it_was_told(tmp_path):
    path = tmp_path / "state.json"
    command = [sys.executable, "-W", "ignore", "-c", KILLED.format(path=str(path))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        printed = [process.stdout.readline() for _ in range(20)]
        process.kill()
        printed += process.stdout.read().splitlines()
    told = [tuple(line.split()) for line in printed if len(line.split()) == 2]
    found = {(result.id, str(int(result.value))) for result in read_state(path.read_text(), path).measured}
    assert len(told) >= 20
    assert set(told) <= found
    assert len(found) <= len(told) + 1  # the last one may have been told and not yet printed


@pytest.mark.parametrize(("key", "wrong"), [('"failed"', '"faild"'), ('"bound"', '"boundd"')])
def test_a_file_with_keys_that_nothing_is_read_from_is_refused(key, wrong, tmp_path):
    text = write_state(CampaignState("random", True, 0, (Measurement("a", 1.0, 0),)))
    with pytest.raises(ValueError, match=wrong.strip('"')):
        read_state(text.replace(key, wrong), tmp_path / "a.campaign.json")
