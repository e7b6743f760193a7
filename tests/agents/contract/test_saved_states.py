"""A saved state with anything wrong in it is refused, and the agent plays on as before."""

import contextlib
import copy

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from support.molecules import some_molecules

import registry
from agents.contract.state import check_form, form_of
from graph_bandit_env import GraphSet

SMALL = {
    "gnn": {"width": 8, "steps": 2},
    "nn-": {"width": 8, "steps": 2},
    "eps": {"width": 8, "steps": 2},
    "sb3": {"rollout": 3, "batch_size": 3, "epochs": 1, "embedding": 4},
}
MODELS = {
    **{name: {} for name in registry.list_agents()},
    "gnn-ts exact": {"covariance": "exact", "history": "frozen", "fit": "epochs", "epochs": 1},
    "gnn-ucb diagonal": {"covariance": "diagonal", "gradient": "last_layer"},
    "molecule-ucb plain": {"warp": "none", "noise_variance": 0.01},
    **{f"{name} forget={forget}": {"forget": forget} for name in ("gntk-ucb", "lin-ts") for forget in (2, 0.5)},
}


def entries(value, path=()):
    """Yield the path of each entry of nested dicts and lists, and what is there."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    for key, entry in pairs:
        yield (*path, key), entry
        yield from entries(entry, (*path, key))


def replace(value, path, entry):
    """Return a copy of a state with another entry at a path."""
    if not path:
        return entry
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[path[0]] = replace(value[path[0]], path[1:], entry)
    return changed


def wrongs(entry):
    """List what can be wrong in the place of an entry."""
    yield from (object(), "text", *([] if entry is None else [None]))
    if isinstance(entry, torch.Tensor):
        yield from (entry.unsqueeze(0), entry.to(torch.float16), entry.numpy())
        yield torch.cat([entry.reshape(-1), entry.reshape(-1)[:1], entry.new_zeros(2)])
        yield from [
            torch.full_like(entry, bad) for bad in (np.nan, np.inf) if entry.is_floating_point() and entry.numel()
        ]
    if isinstance(entry, float):
        yield from (np.nan, np.inf)
    if isinstance(entry, dict):
        yield from ({**entry, "surplus": 1}, list(entry), *([dict(list(entry.items())[1:])] if entry else []))
    if isinstance(entry, (list, tuple)):
        yield from ([*entry, "surplus"], dict(enumerate(entry)), *([entry[1:]] if len(entry) else []))


def make(label):
    name = label.split()[0]
    return registry.make_agent(name, **SMALL.get(name[:3], {}), **MODELS[label])


def ready(label, graph_set, seed=0):
    agent = make(label)
    agent.reset(None, seed=seed, graph_set=graph_set)
    return agent


def play(agent, rounds):
    played = []
    for _ in range(rounds):
        played.append(agent.select_action(None))
        agent.update(None, played[-1], float(played[-1] % 3))
    return played


@pytest.mark.parametrize("label", MODELS)
def test_a_state_with_anything_wrong_in_it_is_refused_and_changes_nothing(label):
    molecules = registry.agent_needs(label.split()[0]) == "molecules"
    graph_set = some_molecules(6) if molecules else GraphSet.from_pyg(ragged_graphs())
    other, agent, twin = (ready(label, graph_set, seed) for seed in (1, 0, 0))
    play(other, 3)
    other.select_action(None)
    assert play(agent, 1) == play(twin, 1)
    state = other.state_dict()
    accepted = []
    for path, entry in [((), state), *entries(state)]:
        if path[:2] == ("optimizer", "state") and path[2:] > (1,):
            continue  # the other weights are like the first
        for wrong in wrongs(entry):
            if (path, wrong) == (("chosen",), []) or (path[:1] == ("chosen",) and path[-1:] == ("reward",)):
                continue  # before a choice there is none, and its reward comes later
            with contextlib.suppress(ValueError):
                agent.load_state_dict(replace(state, path, wrong))
                accepted.append((path, wrong))
    assert not accepted
    assert play(agent, 2) == play(twin, 2)
    agent.load_state_dict(state)
    twin.load_state_dict(copy.deepcopy(state))
    assert play(agent, 1) == play(twin, 1) == play(other, 1)


@pytest.mark.filterwarnings("ignore:.*look equal:agents.contract.BlindAgentWarning")  # two graphs without edges do
@pytest.mark.parametrize("name", ["gntk-ucb", "gnn-ts"])
def test_a_state_is_refused_on_other_graphs_of_the_same_number(name):
    agent, other = (ready(name, GraphSet.from_pyg(ragged_graphs(seed=seed))) for seed in (0, 1))
    with pytest.raises(ValueError, match="an agent on the same graphs. Got one on other graphs"):
        other.load_state_dict(agent.state_dict())


def test_a_refusal_names_the_part_that_is_wrong():
    form = form_of({"optimizer": {"rates": [0.5, 1.0]}})
    with pytest.raises(ValueError, match="Got one with a str in `optimizer.rates.1`"):
        check_form({"optimizer": {"rates": [0.5, "fast"]}}, form)


def test_a_number_of_numpy_that_is_not_finite_is_refused():
    agent = ready("gntk-ucb", GraphSet.from_pyg(ragged_graphs()))
    with pytest.raises(ValueError, match="with the number nan in `noise`"):
        agent.load_state_dict({**agent.state_dict(), "noise": np.float32("nan")})
