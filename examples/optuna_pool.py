"""Let Optuna choose from a pool of molecules: `PoolSampler` knows their structures, TPE nothing but their ids.

python examples/optuna_pool.py --rounds 20
"""

import argparse

import optuna

from graph_bandit_bridges import PoolSampler
from graph_bandit_env import from_smiles

HALVES = ("c1ccccc1", "c1ccncc1", "C1CCCCC1", "c1ccsc1", "C1CCOCC1", "c1ccc(F)cc1")
TAILS = ("C", "CC", "O", "N", "OC(=O)", "FC(F)(F)", "N#C", "CO", "OC", "CN", "ClC", "NC(=O)")


def main(rounds: int) -> None:
    """Compare the best value after some evaluations."""
    smiles = [f"{tail}{half}" for half in HALVES for tail in TAILS]
    pool = from_smiles(smiles, ids=[f"m{k}" for k in range(len(smiles))])

    def objective(trial: optuna.Trial) -> float:
        name = trial.suggest_categorical("id", pool.ids)
        return measure(pool.smiles[pool.ids.index(name)])

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    for name, sampler in (("PoolSampler", PoolSampler(pool)), ("TPE", optuna.samplers.TPESampler(seed=0))):
        study = optuna.create_study(direction="maximize", sampler=sampler)
        study.optimize(objective, n_trials=rounds)
        print(f"{name}: best {study.best_value:.2f}, {study.best_params['id']}")
    print(f"the best of all {len(pool)} is {max(map(measure, pool.smiles)):.2f}")


def measure(smiles: str) -> float:
    """Stand in for a measurement: the logP that RDKit computes."""
    from rdkit.Chem import Crippen, MolFromSmiles

    return float(Crippen.MolLogP(MolFromSmiles(smiles)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    main(parser.parse_args().rounds)
