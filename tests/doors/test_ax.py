"""Experiments of Ax over the graphs of a pool."""

import logging

import pytest
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig
from ax.core.parameter import MAX_VALUES_CHOICE_PARAM
from ax.exceptions.core import SearchSpaceExhausted
from ax.generation_strategy.generation_strategy import GenerationStrategy
from ax.storage.json_store.load import load_experiment
from ax.storage.json_store.save import save_experiment
from ax.utils.common.logger import set_stderr_log_level
from support import ROOT
from support.molecules import some_molecules
from support.pages import blocks_of
from support.programs import run_program

from graph_bandit_bridges import PoolNode, pool_parameter
from graph_bandit_bridges.ax import MOST_CHOICES
from graph_bandit_campaign import Campaign, Goal

POOL = some_molecules(24)
VALUES = dict(zip(POOL.ids, POOL.targets.tolist(), strict=True))
WEIGHTS = {key: float(len(text)) for key, text in zip(POOL.ids, POOL.smiles, strict=True)}
AGENT = "molecule-ucb:short_list=10"


@pytest.fixture(autouse=True)
def quiet():
    set_stderr_log_level(logging.ERROR)


def begin(objective="value", constraints=None, agent=AGENT, pool=POOL, others=()):
    client = Client()
    client.configure_experiment(parameters=[pool_parameter(pool), *others])
    client.configure_optimization(objective, constraints)
    client.set_generation_strategy(GenerationStrategy(name="pool", nodes=[PoolNode(pool, agent=agent)]))
    return client


def ask(client, count=1):
    return {index: parameters["id"] for index, parameters in client.get_next_trials(count).items()}


def play(client, rounds, outcome=lambda key: {"value": VALUES[key]}):
    """Try graphs one by one, and return them."""
    asked = []
    for _ in range(rounds):
        ((index, key),) = ask(client).items()
        client.complete_trial(index, outcome(key))
        asked.append(key)
    return asked


def play_campaign(rounds, **settings):
    campaign, asked = Campaign(POOL, AGENT, **settings), []
    for _ in range(rounds):
        asked.append(campaign.ask(1)[0].id)
        campaign.tell({asked[-1]: VALUES[asked[-1]]})
    return asked


@pytest.mark.parametrize(("objective", "maximize"), [("value", True), ("-value", False)])
def test_an_experiment_tries_what_a_campaign_asks_for(objective, maximize):
    client = begin(objective)
    asked = play(client, 8)
    assert asked == play_campaign(8, maximize=maximize)
    best, _, _, _ = client.get_best_parameterization()
    assert best["id"] == (max if maximize else min)(asked, key=VALUES.get)


def test_every_graph_is_tried_once_and_then_the_space_is_exhausted():
    client = begin(agent="random")
    assert sorted([*ask(client, 10).values(), *ask(client, 50).values()]) == sorted(POOL.ids)
    with pytest.raises(SearchSpaceExhausted, match="All 24 graphs"):
        client.get_next_trials(1)


def test_trials_in_parallel_count_as_pending():
    client, campaign = begin(), Campaign(POOL, AGENT)
    for key in play(client, 4):
        campaign.tell({key: VALUES[key]})
    trials = ask(client, 3)
    for key in trials.values():
        assert campaign.ask(1)[0].id == key
    ((index, key), *_) = trials.items()
    client.complete_trial(index, {"value": VALUES[key]})
    campaign.tell({key: VALUES[key]})
    assert [*ask(client, 2).values()] == [campaign.ask(1)[0].id for _ in range(2)]


def test_failed_trials_teach_what_fails_and_are_not_tried_again():
    client, campaign = begin(), Campaign(POOL, AGENT)
    for key in POOL.ids[:14]:
        index = client.attach_trial({"id": key})
        if "n1" in key:
            client.mark_trial_failed(index)
            campaign.tell({key: "failed"})
        else:
            client.complete_trial(index, {"value": VALUES[key]})
            campaign.tell({key: VALUES[key]})
    assert campaign.failing().teaches
    assert [*ask(client, 6).values()] == [campaign.ask(1)[0].id for _ in range(6)]
    assert not {*ask(client, 20).values()} & {*POOL.ids[:14]}


@pytest.mark.parametrize("end", ["mark_trial_abandoned", "mark_trial_early_stopped"])
def test_abandoned_and_stopped_trials_teach_nothing_and_are_not_tried_again(end):
    client, campaign = begin(), Campaign(POOL, AGENT)
    for key in play(client, 4):
        campaign.tell({key: VALUES[key]})
    ((index, key),) = ask(client).items()
    client.attach_data(index, {"value": 99.0})
    getattr(client, end)(index)
    campaign.annotate(key, veto=True)
    assert key not in ask(client, 20).values()
    again = begin()
    for earlier in campaign.state.settled():
        again.complete_trial(again.attach_trial({"id": earlier}), {"value": VALUES[earlier]})
    again.mark_trial_abandoned(again.attach_trial({"id": key}))
    assert [*ask(again, 3).values()] == [campaign.ask(1)[0].id for _ in range(3)]


def test_several_objectives_and_outcome_constraints_are_goals_and_limits():
    def outcome(key):
        return {"value": VALUES[key], "weight": WEIGHTS[key], "rings": float(key.count("1"))}

    client = begin("value, -weight", ["rings <= 3"])
    asked = play(client, 6, outcome)
    goals = [Goal("value"), Goal("weight", "minimize"), Goal("rings", "limit", high=3.0)]
    campaign = Campaign(POOL, AGENT, goals=goals)
    for key in asked:
        for goal in goals:
            campaign.tell({key: outcome(key)[goal.name]}, goal=goal.name)
    assert [*ask(client).values()] == [campaign.ask(1)[0].id]


def test_an_experiment_that_was_saved_goes_on(tmp_path):
    client = begin()
    first = play(client, 4)
    save_experiment(client._experiment, str(tmp_path / "experiment.json"))
    other = Client()
    other.set_experiment(load_experiment(str(tmp_path / "experiment.json")))
    other.set_generation_strategy(GenerationStrategy(name="pool", nodes=[PoolNode(POOL, agent=AGENT)]))
    assert [*first, *play(other, 4)] == play_campaign(8)


def test_graphs_are_known_by_their_index_where_they_are_more_than_a_choice_can_have(monkeypatch):
    assert MOST_CHOICES == MAX_VALUES_CHOICE_PARAM
    assert isinstance(pool_parameter(POOL), ChoiceParameterConfig)
    monkeypatch.setattr("graph_bandit_bridges.ax.MOST_CHOICES", 23)
    client, node = begin(), PoolNode(POOL)
    assert pool_parameter(POOL) == RangeParameterConfig(name="id", bounds=(0, 23), parameter_type="int")
    asked = [node.id_of(place) for place in play(client, 8, lambda place: {"value": VALUES[node.id_of(place)]})]
    assert asked == play_campaign(8)
    with pytest.raises(ValueError, match="index from 0 to 23"):
        node.id_of(24)


# --- What is wanted


def test_the_example_runs(tmp_path):
    done = run_program(ROOT / "examples" / "ax_pool.py", "--rounds", "3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the best of all 72 is 3.13" in done.stdout


def test_the_guide_runs(capsys):
    page = ROOT / "docs/guides/integrations.md"
    (block,) = (one for one in blocks_of(page) if one.language == "py" and "from ax" in one.text)
    exec(compile(block.text, page.name, "exec"), {})
    assert capsys.readouterr().out.strip()
