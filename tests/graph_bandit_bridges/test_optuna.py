"""Optuna's studies over the graphs of a pool."""

import networkx as nx
import numpy as np
import optuna
import pytest
from optuna.trial import TrialState
from scipy.sparse import csr_array
from support.molecules import some_molecules

from graph_bandit_bridges import PoolSampler
from graph_bandit_bridges.optuna import laplacian_kernel
from graph_bandit_campaign import Campaign, Goal

POOL = some_molecules(24)
VALUES = dict(zip(POOL.ids, POOL.targets.tolist(), strict=True))
WEIGHTS = {key: float(len(text)) for key, text in zip(POOL.ids, POOL.smiles, strict=True)}
AGENT = "molecule-ucb:short_list=10"


@pytest.fixture(autouse=True)
def quiet():
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def choose(trial):
    return trial.suggest_categorical("id", POOL.ids)


def tried(study):
    return [trial.params["id"] for trial in study.trials]


def test_a_study_tries_what_a_campaign_asks_for():
    study = optuna.create_study(direction="maximize", sampler=PoolSampler(POOL, agent=AGENT))
    study.optimize(lambda trial: VALUES[choose(trial)], n_trials=4)
    campaign, asked = Campaign(POOL, AGENT), []
    for _ in range(4):
        asked.append(campaign.ask(1)[0].id)
        campaign.tell({asked[-1]: VALUES[asked[-1]]})
    assert tried(study) == asked
    assert study.best_value == campaign.best


def test_every_graph_is_tried_once_and_then_the_study_stops():
    study = optuna.create_study(sampler=PoolSampler(POOL, agent="random"))
    study.optimize(lambda trial: VALUES[choose(trial)], n_trials=100)
    assert sorted(tried(study)) == sorted(POOL.ids)


def test_ids_under_another_name_are_refused():
    study = optuna.create_study(sampler=PoolSampler(POOL))
    with pytest.raises(ValueError, match="parameter='molecule'"):
        study.optimize(lambda trial: VALUES[trial.suggest_categorical("molecule", POOL.ids)], n_trials=1)


@pytest.mark.parametrize("pool", [POOL.take([0, 1, 2]), POOL.take([0]), None])
def test_other_categories_are_slots_and_every_combination_is_tried_once(pool):
    sampler = PoolSampler(pool) if pool else PoolSampler([0, 1, 2], graph=nx.path_graph(3))
    study = optuna.create_study(direction="maximize", sampler=sampler)
    ids = pool.ids if pool else range(3)

    def value(trial):
        solvent, _ = trial.suggest_categorical("solvent", ["a", None, 3]), trial.suggest_categorical("one", ["x"])
        trial.suggest_float("t", 0, 1)
        return ids.index(trial.suggest_categorical("id", ids)) + 5 * (solvent is None)

    study.optimize(value, n_trials=100)
    pairs = {(trial.params["id"], trial.params["solvent"]) for trial in study.trials}
    assert len(pairs) == len(study.trials) == 3 * len(ids)


def test_trials_that_failed_are_not_tried_again_nor_are_those_that_run():
    study = optuna.create_study(sampler=PoolSampler(POOL, agent=AGENT))
    running = [study.ask() for _ in range(3)]
    first = [choose(trial) for trial in running]
    assert len(set(first)) == 3
    study.tell(running[0], state=TrialState.FAIL)
    study.tell(running[1], state=TrialState.PRUNED)
    study.optimize(lambda trial: VALUES[choose(trial)], n_trials=6)
    assert len(set(tried(study))) == 9


def test_a_study_goes_on_from_its_storage(tmp_path):
    def go(trials, **more):
        where = {"storage": f"sqlite:///{tmp_path}/study.db", "study_name": "s", "load_if_exists": True}
        study = optuna.create_study(**where, sampler=PoolSampler(POOL, **more))
        study.optimize(lambda trial: VALUES[choose(trial)], n_trials=trials)
        return tried(study)

    first = go(2, agent=AGENT)
    both = go(1, agent=AGENT)
    once = optuna.create_study(sampler=PoolSampler(POOL, agent=AGENT))
    once.optimize(lambda trial: VALUES[choose(trial)], n_trials=3)
    assert both[:2] == first
    assert both == tried(once)


def test_several_objectives_and_constraints_are_goals_and_limits():
    def objective(trial):
        key = choose(trial)
        trial.set_constraint("weight", WEIGHTS[key] - 18)
        return VALUES[key], WEIGHTS[key]

    study = optuna.create_study(directions=["maximize", "minimize"], sampler=PoolSampler(POOL, agent=AGENT))
    study.optimize(objective, n_trials=3)
    goals = [Goal("objective 0"), Goal("objective 1", "minimize"), Goal("constraint weight", "limit", high=0.0)]
    campaign = Campaign(POOL, AGENT, goals=goals)
    for key in tried(study):
        for goal, value in zip(goals, (VALUES[key], WEIGHTS[key], WEIGHTS[key] - 18), strict=True):
            campaign.tell({key: value}, goal=goal.name)
    study.optimize(objective, n_trials=1)
    assert tried(study)[-1] == campaign.ask(1)[0].id


@pytest.mark.parametrize("kind", [lambda weights: weights, csr_array, nx.from_numpy_array])
def test_neighbours_of_a_good_choice_in_a_graph_are_tried_first(kind):
    weights = np.diag([2.0] * 8, 1) + np.diag([2.0] * 8, -1)  # a path of nine choices
    kernel = laplacian_kernel(weights)
    assert kernel @ (np.eye(9) + np.diag(weights.sum(0)) - weights) == pytest.approx(np.eye(9))
    study = optuna.create_study(direction="maximize", sampler=PoolSampler(graph=kind(weights)))
    for choice in (0, 4, 8):
        study.enqueue_trial({"id": choice})
    study.optimize(lambda trial: float(trial.suggest_categorical("id", range(9)) == 4), n_trials=5)
    assert {*tried(study)[3:]} == {3, 5}


@pytest.mark.parametrize("weights", [[[0, 1]], [[0, -1], [-1, 0]], [[0, 1], [2, 0]], [[0, np.inf], [np.inf, 0]]])
def test_weights_that_are_of_no_graph_are_refused(weights):
    with pytest.raises(ValueError, match="graph"):
        PoolSampler(["a", "b"], graph=weights)


def test_trials_that_wait_in_a_queue_are_tried_first_and_by_nobody_else():
    study = optuna.create_study(sampler=PoolSampler(POOL, agent=AGENT))
    study.enqueue_trial({"id": POOL.ids[7]})
    study.optimize(lambda trial: VALUES[choose(trial)], n_trials=5)
    assert tried(study)[0] == POOL.ids[7]
    assert len(set(tried(study))) == 5
