"""The file of a campaign: nothing that was told is lost, and what is not such a file is refused."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest

from graph_bandit_campaign import Campaign
from graph_bandit_campaign.results.facts import Measurement
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.store import Store, read_file, write_file
from graph_bandit_env import GraphPool

KILLED = """
import sys

import registry
from graph_bandit_env import GraphPool
from graph_bandit_campaign import Campaign
pool = GraphPool([[[1.0]]] * 5000, [[]] * 5000)
campaign = Campaign(pool, "random", state={path!r})
for number in range(2000):
    for suggestion in campaign.ask(2):
        campaign.tell({{suggestion.id: float(number)}})
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
    found = {(result.id, str(int(result.value))) for result in Store(path).state.measured}
    assert len(told) >= 20
    assert set(told) <= found
    assert len(found) <= len(told) + 1  # the last one may have been told and not yet printed


@pytest.mark.parametrize(("key", "wrong"), [('"failures"', '"failurs"'), ('"bound"', '"boundd"')])
def test_a_file_with_keys_that_nothing_is_read_from_is_refused(key, wrong, tmp_path):
    text = write_file(CampaignState("random", True, 0, (Measurement("a", 1.0, 0),)))
    with pytest.raises(ValueError, match=wrong.strip('"')):
        read_file(text.replace(key.encode(), wrong.encode()), tmp_path / "a.campaign.json")


POOL = GraphPool([[[1.0]]] * 12, [[]] * 12)
WRONG = {  # values that no entry of this type may have
    bool: (None, "no", 1, 0.5, []),
    int: (None, "3", True, -5, 0.5, []),
    float: ("1", True, [], {}),
    str: (None, 3, True, []),
    list: (None, 3, "a", {}),
    dict: (None, 3, "a", []),
    type(None): ("1", True, [], {}),
}


@pytest.fixture(scope="module")
def content():
    """The file of a campaign of two rounds."""
    campaign = Campaign(POOL, "random", seed=1)
    for identifier in [suggestion.id for suggestion in campaign.ask(3)][:2]:
        campaign.tell({identifier: 0.5})
    campaign.tell({campaign.ask(2)[0].id: "failed"})
    return write_file(campaign.state)


def refusal(content):
    """Return what is said against a file; empty if it is read."""
    path = Path("mine.campaign.json")
    try:
        read_file(content, path)
    except ValueError as error:
        return str(error)
    return ""


def entries(value, way=()):
    """Yield the way to each entry of nested dicts and lists."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in pairs:
        yield (*way, key)
        yield from entries(entry, (*way, key))


def test_an_entry_of_another_type_is_refused(content):
    taken = []
    for *way, last in entries(json.loads(content)):
        parent = fields = json.loads(content)
        for key in way:
            parent = parent[key]
        for wrong in WRONG[type(parent[last])]:
            parent[last] = copy.copy(wrong)
            if not refusal(json.dumps(fields).encode()).startswith("Expected"):
                taken.append((*way, last, wrong))
    assert taken == []


def test_a_file_that_is_cut_off_anywhere_is_refused(content):
    whole = content.rstrip()  # without the end of the last line it says the same
    assert [size for size in range(len(whole)) if "Expected" not in refusal(whole[:size])] == []
