"""Let BoTorch choose from a pool of molecules: its acquisition functions over the posterior of a campaign.

python examples/botorch_pool.py --rounds 4
"""

import argparse

from botorch.acquisition import AcquisitionFunction, qLogNoisyExpectedImprovement, qUpperConfidenceBound
from botorch.models.model import Model
from botorch.optim import optimize_acqf_discrete

from graph_bandit_bridges import CampaignPoints, campaign_model
from graph_bandit_campaign import Campaign
from graph_bandit_env import from_smiles

HALVES = ("c1ccccc1", "c1ccncc1", "C1CCCCC1", "c1ccsc1", "C1CCOCC1", "c1ccc(F)cc1")
TAILS = ("C", "CC", "O", "N", "OC(=O)", "FC(F)(F)", "N#C", "CO", "OC", "CN", "ClC", "NC(=O)")


def noisy_improvement(model: Model, points: CampaignPoints) -> AcquisitionFunction:
    """Make the expected improvement over what is best of the molecules with results."""
    return qLogNoisyExpectedImprovement(model, points.measured, prune_baseline=False)


def upper_bound(model: Model, points: CampaignPoints) -> AcquisitionFunction:
    """Make the upper confidence bound of a batch."""
    return qUpperConfidenceBound(model, beta=1.0)


def main(rounds: int) -> None:
    """Let two acquisition functions choose four molecules a round, after four that are spread over the pool."""
    smiles = [f"{tail}{half}" for half in HALVES for tail in TAILS]
    pool = from_smiles(smiles, ids=[f"m{k}" for k in range(len(smiles))])
    values = dict(zip(pool.ids, map(measure, pool.smiles), strict=True))
    for name, make in (("qLogNEI", noisy_improvement), ("qUCB", upper_bound)):
        campaign = Campaign(pool)
        campaign.tell({key: values[key] for key in pool.ids[::18]})
        for _ in range(rounds):
            points = CampaignPoints.of(campaign)
            chosen, _ = optimize_acqf_discrete(make(campaign_model(campaign), points), 4, points.choices)
            campaign.tell({key: values[key] for key in points.names(chosen)})
        print(f"{name}: best {campaign.best:.2f} of {len(campaign.state.settled())} molecules")
    print(f"the best of all {len(pool)} is {max(values.values()):.2f}")


def measure(smiles: str) -> float:
    """Stand in for a measurement: the logP that RDKit computes."""
    from rdkit.Chem import Crippen, MolFromSmiles

    return float(Crippen.MolLogP(MolFromSmiles(smiles)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=4)
    main(parser.parse_args().rounds)
