import inspect

import pytest
from support import stubs

import registry
from agents import zoo
from agents.zoo import recipes

PAIRS = {name: recipe for name, recipe in zoo.RECIPES.items() if recipe.rule is not None}


def test_editors_and_mypy_see_the_arguments_that_there_are():
    assert stubs.PATH.read_text(encoding="utf-8") == stubs.stub(), "`make stubs` writes it again"


@pytest.mark.parametrize("name", zoo.RECIPES)
def test_the_function_of_an_agent_is_what_the_registry_makes_it_by(name):
    factory = getattr(zoo, name.replace("-", "_"))
    assert factory().settings == registry.make_agent(name).settings
    assert all(
        parameter.default is not inspect.Parameter.empty for parameter in inspect.signature(factory).parameters.values()
    )


@pytest.mark.parametrize("rule", ["ei", "greedy", "ts", "ucb"])
def test_every_family_plays_by_it(rule):
    assert {recipe.model for recipe in PAIRS.values() if recipe.rule == rule} >= {"gnn", "nn", "gntk", "molecule"}


def test_no_model_names_a_rule_and_no_rule_a_model():
    for place in {recipes.MODELS[recipe.model] for recipe in PAIRS.values()}:
        source = inspect.getsource(inspect.getmodule(recipes._load(place)))
        assert not [rule for rule in recipes.RULES.values() if rule.partition(":")[2] in source]


def test_a_name_that_there_is_not_is_told():
    with pytest.raises(AttributeError, match="gnn_tss"):
        zoo.gnn_tss  # noqa: B018
