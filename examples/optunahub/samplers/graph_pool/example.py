"""Choose molecules, and things of which only a kernel is known.

python samplers/graph_pool/example.py
"""

import os

import numpy as np
import optuna
import optunahub

HERE = os.path.dirname(os.path.abspath(__file__))
hub = optunahub.load_local_module("samplers/graph_pool", registry_root=os.path.dirname(os.path.dirname(HERE)))


def choose_molecules() -> None:
    """Find a molecule with a large number of carbon atoms, which stands in for a measurement."""
    smiles = [
        f"{tail}{middle}{tail}" for tail in ("C", "CC", "CCC", "OC", "NC", "OCC") for middle in ("C", "O", "N", "S")
    ]
    pool = hub.from_smiles(smiles)
    carbons = dict(zip(pool.ids, (text.count("C") for text in pool.smiles), strict=True))
    study = optuna.create_study(direction="maximize", sampler=hub.PoolSampler(pool))
    study.optimize(lambda trial: carbons[trial.suggest_categorical("id", pool.ids)], n_trials=8)
    print(f"molecules: best of 8 evaluations {study.best_value:.0f}, best of all {max(carbons.values())}")


def choose_by_a_kernel() -> None:
    """Find the largest value of a smooth function on 100 places, given how alike places are."""
    places = np.linspace(0, 10, 100)
    values = np.sin(places) + places / 10
    pool = hub.KernelPool(np.exp(-((places[:, None] - places) ** 2)))
    study = optuna.create_study(direction="maximize", sampler=hub.PoolSampler(pool))
    study.optimize(lambda trial: values[int(trial.suggest_categorical("id", pool.ids))], n_trials=20)
    print(f"kernel: best of 20 evaluations {study.best_value:.2f}, best of all {values.max():.2f}")


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    choose_molecules()
    choose_by_a_kernel()
