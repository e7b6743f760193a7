"""Let Ax choose from a pool of molecules, three trials at a time: `PoolNode` knows their structures.

python examples/ax_pool.py --rounds 5
"""

import argparse
import logging

from ax.api.client import Client
from ax.generation_strategy.generation_strategy import GenerationStrategy
from ax.utils.common.logger import set_stderr_log_level

from graph_bandit_bridges import PoolNode, pool_parameter
from graph_bandit_env import from_smiles

HALVES = ("c1ccccc1", "c1ccncc1", "C1CCCCC1", "c1ccsc1", "C1CCOCC1", "c1ccc(F)cc1")
TAILS = ("C", "CC", "O", "N", "OC(=O)", "FC(F)(F)", "N#C", "CO", "OC", "CN", "ClC", "NC(=O)")


def main(rounds: int) -> None:
    """Compare the best value after some rounds with that of Ax's own strategy, which sees nothing but names."""
    smiles = [f"{tail}{half}" for half in HALVES for tail in TAILS]
    pool = from_smiles(smiles, ids=[f"m{k}" for k in range(len(smiles))])
    set_stderr_log_level(logging.ERROR)
    for name in ("PoolNode", "Ax's own"):
        client = Client(random_seed=0)
        client.configure_experiment(parameters=[pool_parameter(pool)])
        client.configure_optimization(objective="logp")
        if name == "PoolNode":
            client.set_generation_strategy(GenerationStrategy(name="pool", nodes=[PoolNode(pool)]))
        else:
            client.configure_generation_strategy(method="fast")
        for _ in range(rounds):
            for index, parameters in client.get_next_trials(max_trials=3).items():
                structure = pool.smiles[pool.ids.index(parameters["id"])]
                if structure.startswith("N#C"):
                    client.mark_trial_failed(index)  # as if nitriles could not be measured
                else:
                    client.complete_trial(index, {"logp": measure(structure)})
        best, values, *_ = client.get_best_parameterization()
        print(f"{name}: best {values['logp'][0]:.2f}, {best['id']}")
    print(f"the best of all {len(pool)} is {max(map(measure, pool.smiles)):.2f}")


def measure(smiles: str) -> float:
    """Stand in for a measurement: the logP that RDKit computes."""
    from rdkit.Chem import Crippen, MolFromSmiles

    return float(Crippen.MolLogP(MolFromSmiles(smiles)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    main(parser.parse_args().rounds)
