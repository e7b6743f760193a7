"""The same pool and results lead to the same choice through every door, if the same agent chooses."""

import csv
import logging

import optuna
import pytest
from ax.api.client import Client
from ax.generation_strategy.generation_strategy import GenerationStrategy
from ax.utils.common.logger import set_stderr_log_level
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound
from botorch.optim import optimize_acqf_discrete
from support.molecules import some_molecules

from graph_bandit_bridges import CampaignPoints, PoolNode, PoolSampler, campaign_model, pool_parameter
from graph_bandit_campaign import Campaign
from graph_bandit_cli.main import main

POOL = some_molecules(60)
VALUES = dict(zip(POOL.ids, POOL.targets.tolist(), strict=True))
TOLD = POOL.ids[::5]


def by_optuna(agent, told):
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=PoolSampler(POOL, agent=agent))
    for key in told:
        study.enqueue_trial({"id": key})
    study.optimize(lambda trial: VALUES[trial.suggest_categorical("id", POOL.ids)], n_trials=len(told))
    return study.ask().suggest_categorical("id", POOL.ids)


def by_ax(agent, told):
    set_stderr_log_level(logging.ERROR)
    client = Client()
    client.configure_experiment(parameters=[pool_parameter(POOL)])
    client.configure_optimization("value")
    client.set_generation_strategy(GenerationStrategy(name="pool", nodes=[PoolNode(POOL, agent=agent)]))
    for key in told:
        client.complete_trial(client.attach_trial({"id": key}), {"value": VALUES[key]})
    ((_, parameters),) = client.get_next_trials(1).items()
    return parameters["id"]


def campaign_of(agent, told):
    campaign = Campaign(POOL, agent)
    for key in told:
        campaign.tell({key: VALUES[key]})
    return campaign


def by_botorch(agent, told, units="targets"):
    campaign = campaign_of(agent, told)
    model, points = campaign_model(campaign, units), CampaignPoints.of(campaign)
    if agent == "molecule-ucb":
        rule = UpperConfidenceBound(model, beta=1.0)
    else:
        rule = LogExpectedImprovement(model, model.posterior(points.measured.unsqueeze(1)).mean.max())
    return points.names(optimize_acqf_discrete(rule, 1, points.choices)[0])[0]


def by_suggest(agent, told, folder, count=1):
    def write(name, header, rows):
        with open(folder / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])

    write("pool.csv", ["id", "smiles"], zip(POOL.ids, POOL.smiles, strict=True))
    smiles = dict(zip(POOL.ids, POOL.smiles, strict=True))
    write("results.csv", ["id", "smiles", "value"], [[key, smiles[key], repr(VALUES[key])] for key in told])
    out = folder / "next.csv"
    words = ["suggest", str(folder / "pool.csv"), "--measured", str(folder / "results.csv"), "--maximize", "value"]
    words += ["--n", str(count), "--out", str(out), *(["--agent", agent] if agent else [])]
    assert main(words) == 0
    with open(out, newline="", encoding="utf-8") as file:
        return [row["id"] for row in csv.DictReader(file)]


@pytest.mark.parametrize("told", [TOLD, TOLD[:3], POOL.ids[1::2]], ids=["12 told", "3 told", "30 told"])
@pytest.mark.parametrize("agent", ["molecule-ucb", "molecule-ei", None])
def test_every_door_leads_to_the_same_molecule(agent, told, tmp_path, capsys):
    (suggested,) = by_suggest(agent, told, tmp_path)
    assert {by_optuna(agent, told), by_ax(agent, told), by_botorch(agent, told)} == {suggested}
    assert campaign_of(agent, told).ask(1)[0].id == suggested
