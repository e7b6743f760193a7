import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch

from agents.beliefs.rewards.history import History
from agents.neural.fit import draw_batches, fit
from agents.neural.settings import NeuralSettings
from gntk import GraphMLP, aggregate_neighbours, gram, values_and_features
from gntk.engines import paper_network

GRAPHS = aggregate_neighbours(Batch.from_data_list(ragged_graphs(sizes=(5, 4, 7, 6))))


def filled(actions=(0, 2, 2, 3), rewards=(1.0, -1.0, -2.0, 0.5)):
    history = History(4)
    history.add(torch.as_tensor(actions), torch.as_tensor(rewards, dtype=torch.float64))
    return history


def reference_sgd(settings, history, start, initial):
    """The same fit by autograd, on the same batches."""
    parameters = [weight.clone().requires_grad_() for weight in start]
    model = GraphMLP(4, settings.width, settings.depth)
    names = [name for name, _ in model.named_parameters()]
    optimizer = torch.optim.SGD(parameters, lr=settings.learning_rate)
    c = settings.ridge / (len(history) if settings.penalty == "per_round" else 1)
    for index, targets in draw_batches(history, settings, torch.Generator().manual_seed(0)):
        values = torch.func.functional_call(model, dict(zip(names, parameters, strict=True)), (GRAPHS,))
        centers = initial if settings.penalty_center == "initial" else [0.0] * len(initial)
        penalty = sum(((p - w) ** 2).sum() for p, w in zip(parameters, centers, strict=True))
        loss = ((values[index] - targets) ** 2).mean() / 2 + c / 2 * penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [p.detach() for p in parameters]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"fit": "epochs", "epochs": 5},
        {"penalty": "constant", "regularization": 0.01},
        {"penalty_center": "zero", "penalty": "constant", "regularization": 0.01},
        {"start": "initial"},
        {"depth": 3},
        {"standardize": False, "batch_size": 3},
    ],
)
def test_equals_stochastic_gradient_descent_by_autograd(changes):
    settings = NeuralSettings(width=8, steps=10, **changes)
    network = paper_network(GRAPHS, settings.width, settings.depth)
    initial = network.initial
    warm = [weight + 0.1 for weight in initial]
    actual = fit(network, warm, filled(), settings, torch.Generator().manual_seed(0))
    expected = reference_sgd(settings, filled(), initial if settings.start == "initial" else warm, initial)
    torch.testing.assert_close(actual, expected)


def test_steps_draw_graphs_in_proportion_to_their_pulls_with_mean_rewards_as_targets():
    settings = NeuralSettings(steps=1000, batch_size=4, standardize=False)
    batches = list(draw_batches(filled(), settings, torch.Generator().manual_seed(0)))
    index, targets = (torch.cat(column) for column in zip(*batches, strict=True))
    assert len(batches) == 1000
    assert (torch.bincount(index, minlength=4) / 4000).tolist() == pytest.approx([0.25, 0, 0.5, 0.25], abs=0.03)
    assert torch.equal(targets, torch.tensor([1.0, 0.0, -1.5, 0.5]).double()[index])


def test_epochs_pass_over_every_observation_once():
    settings = NeuralSettings(fit="epochs", epochs=2, batch_size=3, standardize=False)
    batches = list(draw_batches(filled(), settings, torch.Generator().manual_seed(0)))
    assert [len(index) for index, _ in batches] == [3, 1, 3, 1]
    seen = sorted((int(i), float(y)) for index, targets in batches[:2] for i, y in zip(index, targets, strict=True))
    assert seen == [(0, 1.0), (2, -2.0), (2, -1.0), (3, 0.5)]


@pytest.mark.parametrize("form", ["steps", "epochs"])
def test_standardised_targets_do_not_depend_on_the_units_of_the_reward(form):
    settings = NeuralSettings(fit=form, epochs=3)
    rewards = torch.tensor([1.0, -1.0, -2.0, 0.5], dtype=torch.float64)
    plain, other = (
        draw_batches(filled(rewards=told.tolist()), settings, torch.Generator().manual_seed(0))
        for told in (rewards, 3 * rewards + 100)
    )
    assert torch.equal(plain.index, other.index)
    torch.testing.assert_close(plain.targets, other.targets)


@pytest.mark.parametrize("fit_mode", ["epochs", "steps"])
def test_the_fitted_mean_tends_to_the_closed_form_ridge_solution(fit_mode):
    """f = k (K_t + ridge I)^{-1} y to 3 % at m = 2048, with the penalty m lambda / t around theta_0."""
    width, ridge = 2048, 0.1
    modes = {
        "epochs": {"epochs": 1500, "batch_size": 6, "learning_rate": 1.0},
        "steps": {"steps": 3000, "batch_size": 12, "learning_rate": 0.2},
    }
    settings = NeuralSettings(
        width=width, regularization=ridge / width, standardize=False, fit=fit_mode, **modes[fit_mode]
    )
    actions, rewards = np.array([0, 2, 2, 3, 0, 2]), np.array([1.0, -0.5, -0.7, 0.3, 0.8, -0.6])
    history, network = filled(actions, rewards), paper_network(GRAPHS, width)
    fitted = fit(network, network.initial, history, settings, torch.Generator().manual_seed(0))
    features = values_and_features(network.initial, GRAPHS)[1]
    kernel = gram(features, features).numpy()
    solved = np.linalg.solve(kernel[np.ix_(actions, actions)] + ridge * np.eye(6), rewards)
    expected = kernel[:, actions] @ solved
    values = values_and_features(fitted, GRAPHS)[0].numpy()
    assert np.abs(values - expected).max() <= 0.03 * np.abs(expected).max()
