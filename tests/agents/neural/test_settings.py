import dataclasses

import pytest

from agents.contract.settings import read_settings
from agents.neural.settings import NeuralSettings

PAPER = {
    "covariance": "diagonal",
    "gradients_at": "current",
    "history": "frozen",
    "fit": "epochs",
    "epochs": 30,
    "batch_size": 5,
    "penalty": "constant",
    "penalty_center": "zero",
    "start": "initial",
    "standardize": False,
    "exploration_scale": 0.01,
    "learning_rate": 0.01,
    "regularization": 1e-4,
}


def test_the_papers_preset_is_its_algorithm_to_the_letter_at_a_cell_of_its_grid():
    settings = dataclasses.asdict(read_settings(NeuralSettings, {"preset": "paper"}))
    assert PAPER.items() <= settings.items()


def test_ridge_is_width_times_regularization():
    assert NeuralSettings(width=100, regularization=0.01).ridge == pytest.approx(1)
