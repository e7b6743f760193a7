"""Draw predictions of molecules that were not measured, with 90 % intervals, against their values."""

import matplotlib.pyplot as plt
import numpy as np

from graph_bandit_campaign import Campaign
from graph_bandit_env import from_smiles
from graph_bandit_env.pools.products import example_library, example_values

products = example_library().make(range(0, 47_000, 250))
pool = from_smiles([product.smiles for product in products])
values = dict(zip(pool.ids, example_values("qed", products), strict=True))
campaign = Campaign(pool)
campaign.tell({key: values[key] for key in pool.ids[::2]})
predicted = [campaign.predict()[key] for key in pool.ids[1::2]]
truth = np.array([values[each.id] for each in predicted])
mean, low, high = (np.array([getattr(each, name) for each in predicted]) for name in ("mean", "low", "high"))
inside = (low <= truth) & (truth <= high)
figure, axes = plt.subplots(figsize=(6, 5))
for mask, color in ((inside, "C0"), (~inside, "C1")):
    bars = mean[mask] - low[mask], high[mask] - mean[mask]
    axes.errorbar(truth[mask], mean[mask], bars, fmt="o", color=color, elinewidth=0.8, markersize=4)
axes.axline((0.5, 0.5), slope=1, color="black", linestyle=":")
axes.set(xlabel="measured", ylabel="predicted", title=f"{inside.sum()} of {len(inside)} lie in their 90 % intervals")
figure.savefig("intervals.png")
