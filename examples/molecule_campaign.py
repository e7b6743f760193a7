"""Ask which molecules to measure next, report the results, close the laptop, and continue later.

python examples/molecule_campaign.py --rounds 5
"""

import argparse
import tempfile
from pathlib import Path

from graph_bandit_campaign import Campaign
from graph_bandit_env import enumerate_library

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=5)
arguments = parser.parse_args()

molecules = enumerate_library("qed")  # or from_smiles_csv("pool.csv", smiles="smiles", identifier="id")
laboratory = dict(zip(molecules.ids, molecules.targets, strict=True))  # in practice, these are measurements

with tempfile.TemporaryDirectory() as folder:
    state = Path(folder) / "campaign.json"
    campaign = Campaign(molecules, "molecule-ucb", state=state)
    campaign.tell({key: laboratory[key] for key in molecules.ids[::150]})  # old measurements
    print(f"{len(campaign.state.measured)} old measurements, the best of them {campaign.best:.3f}")
    for number in range(1, arguments.rounds + 1):
        suggestions = campaign.ask(4)
        first = suggestions[0]
        print(f"round {number}: {first.id} is predicted at {first.mean:.3f} ± {first.std:.3f}, ", end="")
        print(f"and beats the best with probability {first.probability:.0%}")
        for suggestion in suggestions[:-1]:  # in any order
            campaign.tell({suggestion.id: laboratory[suggestion.id]})
        campaign.tell({suggestions[-1].id: "failed"})  # this molecule could not be made
        campaign = Campaign(molecules, state=state)  # as another program would open it tomorrow
    above = (molecules.targets > campaign.best).mean()
    print(f"the best is {campaign.best:.3f}; {above:.1%} of the {len(molecules)} molecules are better")
