"""A campaign file with any entry replaced, cut off anywhere or with any bit flipped is refused, or read as data."""

import copy
import json
from pathlib import Path

import pytest

from graph_bandit_campaign import Campaign
from graph_bandit_campaign.file import read_state, write_state
from graph_bandit_env import GraphPool

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
        campaign.tell(identifier, 0.5)
    campaign.tell_failed(campaign.ask(2)[0].id)
    return write_state(campaign.state).encode()


def refusal(content):
    """Return what is said against a file; empty if it is read."""
    path = Path("mine.campaign.json")
    try:
        read_state(content.decode("utf-8"), path)
    except UnicodeDecodeError:
        return "Expected UTF-8"  # its reader refuses that (`test_state.py`)
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
