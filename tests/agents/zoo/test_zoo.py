import inspect
import re

import pytest
from support import ROOT

import registry
from agents.contract.reading import SMILES
from agents.zoo import FAMILIES


@pytest.mark.parametrize("name", registry.list_agents())
def test_each_agent_has_settings_with_defaults_and_is_registered_with_what_it_needs(name):
    agent, factory = registry.make_agent(name), registry._load(name)
    assert factory().settings == agent.settings
    assert all(one.default is not one.empty for one in inspect.signature(factory).parameters.values())
    assert registry.agent_needs(name) == ("molecules" if agent.reads == {SMILES} else "any")


def test_the_lists_name_every_agent_that_a_file_defines():
    for family, names in FAMILIES.items():
        text = (ROOT / "agents" / "zoo" / f"{family}.py").read_text(encoding="utf-8")
        assert sorted(names) == sorted(re.findall(r'^\w+ = compose\("([\w-]+)"', text, re.MULTILINE))
