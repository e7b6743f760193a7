import inspect
import re
import sys

import pytest
from support import ROOT

import registry
from agents import zoo
from agents.contract.reading import SMILES

NAMES = {name.replace("_", "-"): name for name in zoo.__all__}


@pytest.mark.parametrize("name", NAMES)
def test_the_function_of_an_agent_is_what_the_registry_makes_it_by(name):
    factory = getattr(zoo, NAMES[name])
    assert factory.__name__ == NAMES[name]
    assert factory().settings == registry.make_agent(name).settings
    assert all(
        parameter.default is not inspect.Parameter.empty for parameter in inspect.signature(factory).parameters.values()
    )


def test_the_door_offers_every_agent_that_a_file_defines():
    files = [path.read_text(encoding="utf-8") for path in (ROOT / "agents" / "zoo").glob("*.py")]
    defined = [name for text in files for name in re.findall(r"^(\w+) = compose", text, re.MULTILINE)]
    assert sorted(defined) == sorted(zoo.__all__)
    assert len(defined) >= 37


@pytest.mark.parametrize("rule", ["ei", "greedy", "ts", "ucb"])
def test_every_family_plays_by_it(rule):
    assert {f"{family}-{rule}" for family in ("gnn", "nn", "gntk", "gp", "molecule")} <= NAMES.keys()


@pytest.mark.parametrize("name", NAMES)
def test_agents_that_read_molecules_alone_are_registered_as_such(name):
    needs = "molecules" if registry.make_agent(name).reads == {SMILES} else "any"
    assert registry.agent_needs(name) == needs


def test_no_model_names_a_rule():
    rules = r"\b(ThompsonSampling|UpperConfidenceBound|PhasedElimination|Greedy|ExpectedImprovement|EpsilonGreedy)\b"
    for name in NAMES.values():
        model = inspect.getclosurevars(getattr(zoo, name)).nonlocals["model"]
        assert not re.search(rules, inspect.getsource(sys.modules[model.__module__]))


def test_a_name_that_there_is_not_is_told():
    with pytest.raises(AttributeError, match="gnn_tss"):
        zoo.gnn_tss  # noqa: B018
