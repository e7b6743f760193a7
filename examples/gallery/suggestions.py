"""Draw the six molecules that a campaign suggests next, each with the 90 % interval of its result."""

import matplotlib.pyplot as plt
from rdkit.Chem import Draw, MolFromSmiles

from graph_bandit_campaign import Campaign
from graph_bandit_env import from_smiles
from graph_bandit_env.pools.products import example_library, example_values

products = example_library().make(range(0, 47_000, 120))
pool = from_smiles([product.smiles for product in products])
values = dict(zip(pool.ids, example_values("qed", products), strict=True))
campaign = Campaign(pool, maximize=True)
campaign.tell({key: values[key] for key in pool.ids[:40]})
figure, panels = plt.subplots(3, 2, figsize=(6, 6))
for axes, suggestion in zip(panels.flat, campaign.ask(6), strict=True):
    axes.imshow(Draw.MolToImage(MolFromSmiles(suggestion.id), size=(420, 230)))
    axes.set_title(f"{suggestion.low:.2f} to {suggestion.high:.2f}", fontsize=12)
    axes.axis("off")
figure.suptitle("Next measurements", fontweight="bold", fontsize=13, x=0.02, ha="left")
figure.savefig("suggestions.png")
